// Sends a body on standard input with a token for it, with the standard library, which has all that one of RS256
// needs; github.com/golang-jwt/jwt has the other algorithms:
//
//	HOOKPROOF_KEY=private.pem go run send.go <kid> [listener URL] [event id] < body.json
package main

import (
	"bytes"
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
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

const listener = "http://127.0.0.1:4400/api/v1/webhooks/incoming/lst_local"

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

func sendWebhook(url, token, eventID string, body []byte) (int, string, error) {
	request, err := http.NewRequest("POST", url, bytes.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Webhook-Timestamp", strconv.FormatInt(time.Now().Unix(), 10))
	request.Header.Set("Webhook-Event-Id", eventID)
	request.Header.Set("Authorization", "Bearer "+token)
	client := &http.Client{
		Timeout:       10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	answer, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text), err
}

// A UUID of version 4.
func newEventID() string {
	id := make([]byte, 16)
	if _, err := rand.Read(id); err != nil {
		panic(err)
	}
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

func main() {
	text, err := os.ReadFile(os.Getenv("HOOKPROOF_KEY"))
	block, _ := pem.Decode(text)
	if err != nil || block == nil || len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "Set HOOKPROOF_KEY to a PEM file with the private key, and give a kid.")
		os.Exit(2)
	}
	kid, url, eventID := os.Args[1], listener, newEventID()
	if len(os.Args) > 2 {
		url = os.Args[2]
	}
	if len(os.Args) > 3 {
		eventID = os.Args[3]
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	check(err)
	body, err := io.ReadAll(os.Stdin)
	check(err)
	baseURL, _, _ := strings.Cut(url, "/api/v1/") // the tenant's
	// Fresh for each attempt.
	token, err := webhookToken(key.(*rsa.PrivateKey), kid, url, baseURL, eventID, body)
	check(err)
	status, answer, err := sendWebhook(url, token, eventID, body)
	if err != nil {
		fmt.Fprintln(os.Stderr, "no answer:", err)
		os.Exit(1)
	}
	fmt.Println(status, answer)
	// 409 says that an earlier attempt with this id was processed.
	if status >= 300 && status != 409 {
		os.Exit(1)
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}
