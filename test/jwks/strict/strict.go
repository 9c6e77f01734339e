// Reads pairs of a key set and a token as a strict verifier in Go does: one unfit key of a known kind refuses the set.
package main

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"strings"
)

type jwk struct {
	Kty, Use, Alg, Kid, Crv, N, E, X, Y string
	Ops                                 *[]string `json:"key_ops"`
}

var encoding = base64.RawURLEncoding.Strict()

func octets(text string, length int) ([]byte, error) {
	value, err := encoding.DecodeString(text)
	if err == nil && length > 0 && len(value) != length {
		err = fmt.Errorf("%d octets", len(value))
	}
	if err == nil && length == 0 && (len(value) == 0 || value[0] == 0) {
		err = errors.New("a number with a zero in front")
	}
	return value, err
}

func (one jwk) read() (crypto.PublicKey, error) {
	if one.Ops != nil {
		seen := map[string]bool{}
		for _, name := range *one.Ops {
			if seen[name] || name != "verify" && name != "sign" {
				return nil, errors.New("key_ops")
			}
			seen[name] = true
		}
	}
	switch one.Kty + " " + one.Crv {
	case "RSA ":
		n, err := octets(one.N, 0)
		if err != nil {
			return nil, err
		}
		e, err := octets(one.E, 0)
		if err != nil || len(e) > 4 {
			return nil, errors.New("e")
		}
		key := &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(new(big.Int).SetBytes(e).Int64())}
		if key.N.BitLen() < 2048 {
			return nil, errors.New("short")
		}
		return key, nil
	case "EC P-256":
		x, err := octets(one.X, 32)
		if err != nil {
			return nil, err
		}
		y, err := octets(one.Y, 32)
		if err != nil {
			return nil, err
		}
		px, py := elliptic.Unmarshal(elliptic.P256(), bytes.Join([][]byte{{4}, x, y}, nil))
		if px == nil {
			return nil, errors.New("not on the curve")
		}
		return &ecdsa.PublicKey{Curve: elliptic.P256(), X: px, Y: py}, nil
	case "OKP Ed25519":
		x, err := octets(one.X, 32)
		return ed25519.PublicKey(x), err
	}
	return nil, errors.New("another kind")
}

func verify(set, token string) error {
	var document struct{ Keys []jwk }
	if err := json.Unmarshal([]byte(set), &document); err != nil {
		return err
	}
	parts := strings.Split(token, ".")
	head, err := encoding.DecodeString(parts[0])
	if err != nil {
		return err
	}
	var header struct{ Kid, Alg string }
	if err := json.Unmarshal(head, &header); err != nil {
		return err
	}
	var found crypto.PublicKey
	for _, one := range document.Keys {
		if one.Use != "sig" || !strings.Contains(" RS256 ES256 EdDSA ", " "+one.Alg+" ") || one.Crv == "Ed448" {
			continue
		}
		key, err := one.read()
		if err != nil {
			return fmt.Errorf("%s: %w", one.Kid, err)
		}
		if one.Kid == header.Kid {
			if found != nil || one.Alg != header.Alg {
				return errors.New("kid or alg")
			}
			found = key
		}
	}
	signature, err := encoding.DecodeString(parts[2])
	if err != nil {
		return err
	}
	signed := []byte(parts[0] + "." + parts[1])
	digest := sha256.Sum256(signed)
	switch key := found.(type) {
	case *rsa.PublicKey:
		return rsa.VerifyPKCS1v15(key, crypto.SHA256, digest[:], signature)
	case *ecdsa.PublicKey:
		r, s := new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])
		if ecdsa.Verify(key, digest[:], r, s) {
			return nil
		}
	case ed25519.PublicKey:
		if ed25519.Verify(key, signed, signature) {
			return nil
		}
	}
	return errors.New("no key")
}

func main() {
	input, _ := io.ReadAll(os.Stdin)
	var pairs [][2]string
	if err := json.Unmarshal(input, &pairs); err != nil {
		panic(err)
	}
	for _, pair := range pairs {
		if err := verify(pair[0], pair[1]); err != nil {
			fmt.Println("refused", err)
		} else {
			fmt.Println("taken")
		}
	}
}
