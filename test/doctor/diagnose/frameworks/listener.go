package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"os"
)

func isSigned(header http.Header, body []byte) bool {
	mac := hmac.New(sha256.New, []byte(os.Getenv("LISTENER_SECRET")))
	io.WriteString(mac, header.Get("Webhook-Timestamp")+"."+header.Get("Webhook-Event-Id")+".")
	mac.Write(body)
	right := base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	return hmac.Equal([]byte(right), []byte(header.Get("Webhook-Signature")))
}

func answer(w http.ResponseWriter, ok bool) {
	if !ok {
		w.WriteHeader(http.StatusUnauthorized)
	}
}

// --- page
func incoming(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 65536))
	answer(w, err == nil && isSigned(r.Header, body))
}

// ---

func wrong(w http.ResponseWriter, r *http.Request) {
	var event map[string]any
	json.NewDecoder(r.Body).Decode(&event)
	body, _ := json.Marshal(event)
	answer(w, isSigned(r.Header, body))
}

func main() {
	handler := incoming
	if os.Getenv("LISTENER") == "wrong" {
		handler = wrong
	}
	http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), http.HandlerFunc(handler))
}
