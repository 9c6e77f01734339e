// The Webhook-Signature of a body on standard input, with the standard library alone:
//
//	HOOKPROOF_SECRET=... go run sign.go <timestamp> <event id> < body.json
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"os"
)

func webhookSignature(secret, timestamp, eventID string, body []byte) string {
	// The key is the secret's text itself, not what it decodes to.
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%s.%s.", timestamp, eventID)
	mac.Write(body)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func main() {
	body, err := io.ReadAll(os.Stdin)
	if err != nil || os.Getenv("HOOKPROOF_SECRET") == "" || len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "Set HOOKPROOF_SECRET to the listener's secret, and give a timestamp and an event id.")
		os.Exit(2)
	}
	fmt.Println(webhookSignature(os.Getenv("HOOKPROOF_SECRET"), os.Args[1], os.Args[2], body))
}
