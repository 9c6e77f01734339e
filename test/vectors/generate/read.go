// Reads a JSON list of texts from standard input as dates or URLs of Go; writes a line of JSON for each.
package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"strings"
)

func main() {
	var texts []string
	if json.NewDecoder(os.Stdin).Decode(&texts) != nil {
		os.Exit(1)
	}
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for _, text := range texts {
		if os.Args[1] == "dates" {
			date, err := http.ParseTime(text)
			if err != nil {
				out.Encode(nil)
			} else {
				out.Encode(date.Unix())
			}
			continue
		}
		given, err := url.Parse(text)
		if err != nil {
			out.Encode(map[string]string{"error": "none"})
			continue
		}
		// An absolute reference is resolved to itself, without dot segments (RFC 3986, 5.2.4).
		resolved := given.ResolveReference(given)
		out.Encode(map[string]string{"host": strings.ToLower(resolved.Host), "target": resolved.RequestURI()})
	}
}
