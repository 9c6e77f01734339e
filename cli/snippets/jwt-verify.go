// Checks the token of a webhook whose body is on standard input. The standard library has no tokens, but all that one
// of RS256 needs; github.com/golang-jwt/jwt has the other algorithms:
//
//	HOOKPROOF_KEY=public.pem go run jwt-verify.go <listener URL> <tenant's base URL> <event id> <token> < body.json
//
// The key is the one of the sender's key set that the token's kid names.
package main

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var uuid = regexp.MustCompile(`^(?i:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})$`)

// Go's base64 reads over line ends.
var jws = regexp.MustCompile(`^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$`)

func isGenuine(key *rsa.PublicKey, url, baseURL, eventID, token string, body []byte, now int64) bool {
	parts := strings.Split(token, ".")
	if !jws.MatchString(token) || !uuid.MatchString(eventID) {
		return false
	}
	header, claims := object(parts[0]), object(parts[1])
	signature, err := base64.RawURLEncoding.Strict().DecodeString(parts[2])
	// The algorithm is fixed here, and never chosen by the token.
	if err != nil || header == nil || claims == nil || header["alg"] != "RS256" {
		return false
	}
	for _, name := range []string{"crit", "b64", "jwk", "jku", "x5u", "x5c"} {
		if _, found := header[name]; found {
			return false
		}
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if rsa.VerifyPKCS1v15(key, crypto.SHA256, digest[:], signature) != nil {
		return false
	}
	exp, isNumber := claims["exp"].(float64)
	if !isNumber || exp != math.Trunc(exp) || exp <= float64(now) || exp > float64(now+600) {
		return false
	}
	if nbf, found := claims["nbf"]; found {
		if from, isNumber := nbf.(float64); !isNumber || from > float64(now) {
			return false
		}
	}
	// The body has to be the bytes as received: parse it afterwards.
	bodyHash := sha256.Sum256(body)
	expected := base64.RawURLEncoding.EncodeToString(bodyHash[:])
	shown, _ := claims["htb_s256"].(string)
	id, _ := claims["jti"].(string)
	return claims["sub"] == baseURL && claims["aud"] == url && claims["htm"] == "POST" &&
		strings.ToLower(id) == strings.ToLower(eventID) &&
		subtle.ConstantTimeCompare([]byte(shown), []byte(expected)) == 1
}

func object(part string) (value map[string]any) {
	text, err := base64.RawURLEncoding.Strict().DecodeString(part)
	if err != nil || json.Unmarshal(text, &value) != nil {
		return nil
	}
	return value
}

func main() {
	text, err := os.ReadFile(os.Getenv("HOOKPROOF_KEY"))
	block, _ := pem.Decode(text)
	if err != nil || block == nil || len(os.Args) < 5 {
		fmt.Fprintln(os.Stderr, "Set HOOKPROOF_KEY to a PEM file with the public key, and give two URLs, an event id and a token.")
		os.Exit(2)
	}
	now := time.Now().Unix()
	if len(os.Args) > 5 {
		now, _ = strconv.ParseInt(os.Args[5], 10, 64)
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	body, failed := io.ReadAll(os.Stdin)
	if err != nil || failed != nil ||
		!isGenuine(key.(*rsa.PublicKey), os.Args[1], os.Args[2], os.Args[3], os.Args[4], body, now) {
		fmt.Println("refused")
		os.Exit(1)
	}
	fmt.Println("genuine")
}
