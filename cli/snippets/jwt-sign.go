// A token for the Authorization header of a webhook. The standard library has no tokens, but all that one of RS256
// needs; github.com/golang-jwt/jwt has the other algorithms:
//
//	HOOKPROOF_KEY=private.pem go run jwt-sign.go <kid> <listener URL> <tenant's base URL> <event id> < body.json
package main

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"time"
)

var base64url = base64.RawURLEncoding

func part(value map[string]any) string {
	text, _ := json.Marshal(value) // of texts and numbers: cannot fail
	return base64url.EncodeToString(text)
}

func webhookToken(key *rsa.PrivateKey, kid, url, baseURL, eventID string, body []byte) (string, error) {
	bodyHash := sha256.Sum256(body)
	signed := part(map[string]any{"alg": "RS256", "kid": kid, "typ": "JWT"}) + "." + part(map[string]any{
		"sub":      baseURL,
		"aud":      url,
		"exp":      time.Now().Unix() + 300,
		"jti":      eventID,
		"htm":      "POST",
		"htb_s256": base64url.EncodeToString(bodyHash[:]),
	})
	digest := sha256.Sum256([]byte(signed))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, digest[:])
	return signed + "." + base64url.EncodeToString(signature), err
}

func main() {
	text, err := os.ReadFile(os.Getenv("HOOKPROOF_KEY"))
	block, _ := pem.Decode(text)
	if err != nil || block == nil || len(os.Args) < 5 {
		fmt.Fprintln(os.Stderr, "Set HOOKPROOF_KEY to a PEM file with the private key, and give a kid, two URLs and an event id.")
		os.Exit(2)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	check(err)
	body, err := io.ReadAll(os.Stdin)
	check(err)
	token, err := webhookToken(key.(*rsa.PrivateKey), os.Args[1], os.Args[2], os.Args[3], os.Args[4], body)
	check(err)
	fmt.Println(token)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}
