// Checks the Webhook-Signature of a body on standard input, with the standard library alone:
//
//	HOOKPROOF_SECRET=... go run hmac-verify.go <timestamp> <event id> <signature> < body.json
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"time"
)

var digits = regexp.MustCompile(`^[0-9]{1,15}$`)
var uuid = regexp.MustCompile(`^(?i:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})$`)

// isGenuine takes the body as the bytes that were received: parse it afterwards.
func isGenuine(secret, timestamp, eventID, signature string, body []byte, now int64) bool {
	at, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || !digits.MatchString(timestamp) || at < now-300 || at > now+300 {
		return false
	}
	// Nothing else ends the id: without its form a part of the body could be moved into it.
	if !uuid.MatchString(eventID) {
		return false
	}
	if secret == "" { // everybody can sign with it
		return false
	}
	// The key is the secret's text itself, not what it decodes to.
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%s.%s.", timestamp, eventID)
	mac.Write(body)
	expected := base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	return hmac.Equal([]byte(expected), []byte(signature)) // in constant time
}

func main() {
	if os.Getenv("HOOKPROOF_SECRET") == "" || len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "Set HOOKPROOF_SECRET to the listener's secret, and give a timestamp, an event id and a signature.")
		os.Exit(2)
	}
	now := time.Now().Unix()
	if len(os.Args) > 4 {
		now, _ = strconv.ParseInt(os.Args[4], 10, 64)
	}
	body, err := io.ReadAll(os.Stdin)
	if err != nil || !isGenuine(os.Getenv("HOOKPROOF_SECRET"), os.Args[1], os.Args[2], os.Args[3], body, now) {
		fmt.Println("refused")
		os.Exit(1)
	}
	fmt.Println("genuine")
}
