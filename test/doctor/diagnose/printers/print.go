// What Go prints; the arguments are a plain body and one with numbers.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

func main() {
	var plain, numbers any
	json.Unmarshal([]byte(os.Args[1]), &plain)
	json.Unmarshal([]byte(os.Args[2]), &numbers)
	printed := map[string]string{}
	put := func(name string, text []byte, _ error) { printed[name] = string(text) }
	text, err := json.Marshal(plain)
	put("Go, json.Marshal of a map", text, err)
	text, err = json.MarshalIndent(plain, "", "  ")
	put("Go, json.MarshalIndent of a map", text, err)
	text, err = json.Marshal(json.RawMessage(os.Args[1]))
	put("Go, json.Marshal of a RawMessage", text, err)
	text, err = json.Marshal(numbers)
	put("Go, numbers", text, err)
	var indented bytes.Buffer
	json.Indent(&indented, []byte(os.Args[1]), "", "\t")
	put("Go, json.Indent", indented.Bytes(), nil)
	put("Go, fmt.Sprint of a map", []byte(fmt.Sprint(plain)), nil)
	put("Go, fmt.Sprint of bytes", []byte(fmt.Sprint([]byte(os.Args[1]))), nil)
	out, _ := json.Marshal(printed)
	fmt.Println(string(out))
}
