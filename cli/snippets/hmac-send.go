// Signs a body on standard input and sends it, with the standard library alone:
//
//	HOOKPROOF_SECRET=... go run send.go [listener URL] [event id] < body.json
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"
)

const listener = "http://127.0.0.1:4400/api/v1/webhooks/incoming/lst_local"

func sendWebhook(url, secret, eventID string, body []byte) (int, string, error) {
	timestamp := strconv.FormatInt(time.Now().Unix(), 10) // fresh for each attempt
	// The key is the secret's text itself, and the bytes that are signed are the bytes that are sent.
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%s.%s.", timestamp, eventID)
	mac.Write(body)

	request, err := http.NewRequest("POST", url, bytes.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Webhook-Timestamp", timestamp)
	request.Header.Set("Webhook-Event-Id", eventID)
	request.Header.Set("Webhook-Signature", base64.RawURLEncoding.EncodeToString(mac.Sum(nil)))
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
	if os.Getenv("HOOKPROOF_SECRET") == "" {
		fmt.Fprintln(os.Stderr, "Set HOOKPROOF_SECRET to the listener's secret.")
		os.Exit(2)
	}
	url, eventID := listener, newEventID()
	if len(os.Args) > 1 {
		url = os.Args[1]
	}
	if len(os.Args) > 2 {
		eventID = os.Args[2]
	}
	body, err := io.ReadAll(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	status, answer, err := sendWebhook(url, os.Getenv("HOOKPROOF_SECRET"), eventID, body)
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
