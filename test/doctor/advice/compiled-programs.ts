// Programs around the code of fixes in compiled languages: each prints `name value` lines of what the code makes.

/** What a program is made of: the code as it is printed, by name. */
export type Parts = Readonly<Record<string, string>>;

/** Two statements as they are printed, of which the second gives the value. */
const lastReturned = (code: string) => code.replace(/; /, ";\n    return ");

export const PROGRAMS = {
  java: (code: Parts) => `
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import static java.nio.charset.StandardCharsets.UTF_8;
import java.nio.file.*;
import java.time.Instant;
import java.util.*;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

class Fixes {
  static SecretKeySpec key(String secret) { return ${code.key}; }
  static String secret(Path path) throws Exception { return ${code.secret}; }
  static byte[] input(Mac mac, String timestamp, String eventId, byte[] body) {
    ${lastReturned(code.input ?? "")};
  }
  static String form(byte[] mac) { return ${code.form}; }
  static String encoder(byte[] mac) { return ${code.encoder}.encodeToString(mac); }
  static byte[] received(HttpExchange exchange) throws Exception { return exchange.${code.body}; }
  static boolean time(String timestamp) { return ${code.time}; }
  public static void main(String[] args) throws Exception {
    String secret = secret(Path.of(args[0]));
    ObjectMapper mapper = new ObjectMapper();
    Object payload = mapper.readValue(args[3], Object.class);
    ${code.sent};
    System.out.println("length " + ${code.sender}.contentLength());
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(key(secret));
    byte[] digest = input(mac, args[1], args[2], body);
    System.out.println("body " + Base64.getEncoder().encodeToString(body));
    System.out.println("signature " + form(digest));
    System.out.println("encoder " + encoder(digest));
    System.out.println("fresh " + time(String.valueOf(Instant.now().getEpochSecond())) + " " + time("1"));
    var server = com.sun.net.httpserver.HttpServer.create(new java.net.InetSocketAddress("127.0.0.1", 0), 0);
    server.createContext("/", exchange -> {
      try {
        byte[] seen = received(exchange);
        exchange.sendResponseHeaders(200, seen.length);
        exchange.getResponseBody().write(seen);
        exchange.close();
      } catch (Exception e) { throw new RuntimeException(e); }
    });
    server.start();
    var request = java.net.http.HttpRequest.newBuilder(java.net.URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/"))
      .POST(${code.sender}).build();
    var echo = java.net.http.HttpClient.newHttpClient().send(request, java.net.http.HttpResponse.BodyHandlers.ofByteArray());
    System.out.println("received " + Base64.getEncoder().encodeToString(echo.body()));
    server.stop(0);
  }
}
`,
  go: (code: Parts) => `
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"time"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	path, timestamp, eventID := os.Args[1], os.Args[2], os.Args[3]
	var payload any
	check(json.Unmarshal([]byte(os.Args[4]), &payload))
	data, err := ${code.read}
	check(err)
	secret := ${code.secret}
	${code.sent}
	check(err)
	mac := ${code.key}
	${code.input}
	fmt.Println("body", base64.StdEncoding.EncodeToString(body))
	fmt.Println("signature", ${code.form})
	fresh := func(timestamp string) bool {
		signed, err := ${code.number}
		check(err)
		age := ${code.now} - signed
		return age <= 300 && age >= -300
	}
	fmt.Println("fresh", fresh(strconv.FormatInt(time.Now().Unix(), 10)), fresh("1"))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen, err := ${code.body}
		check(err)
		w.Write(seen)
	}))
	defer server.Close()
	answer, err := http.Post(server.URL, "application/json", ${code.sender})
	check(err)
	seen, err := io.ReadAll(answer.Body)
	check(err)
	fmt.Println("received", base64.StdEncoding.EncodeToString(seen))
}
`,
  csharp: (code: Parts) => `
using System;
using System.IO;
using System.Linq;
using System.Net.Http;
using System.Threading.Tasks;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;

// Debian's Mono has neither: what they are called with is checked, and not what they do.
namespace System.Net.Http {
  class ByteArrayContent {
    readonly byte[] content;
    public ByteArrayContent(byte[] content) { this.content = content; }
    public Task<byte[]> ReadAsByteArrayAsync() { return Task.FromResult(content); }
  }
}
namespace System.Text.Json {
  static class JsonSerializer {
    public static byte[] SerializeToUtf8Bytes<T>(T value) { return Encoding.UTF8.GetBytes(value.ToString()); }
  }
}

static class Fixes {
  static HMACSHA256 Key(string secret) { return ${code.key}; }
  static string Secret(string path) { return ${code.secret}; }
  static byte[] Input(HMACSHA256 hmac, string timestamp, string eventId, byte[] body) { return ${code.input}; }
  static string Form(byte[] hash) { return ${code.form}; }
  static bool Time(string timestamp) { return ${code.time}; }
  static void Main(string[] args) {
    var payload = args[3];
    ${code.sent};
    var sent = ${code.sender}.ReadAsByteArrayAsync().Result;
    var hash = Input(Key(Secret(args[0])), args[1], args[2], body);
    Console.WriteLine("body " + Convert.ToBase64String(body));
    Console.WriteLine("received " + Convert.ToBase64String(sent));
    Console.WriteLine("signature " + Form(hash));
    Console.WriteLine("fresh " + (Time(DateTimeOffset.UtcNow.ToUnixTimeSeconds().ToString()) + " " + Time("1")).ToLower());
    var id = Guid.Parse("{" + args[2] + "}");
    Console.WriteLine("id " + ${code.id});
    File.WriteAllText(args[4], payload, ${code.encoding});
    Console.WriteLine("written " + Convert.ToBase64String(File.ReadAllBytes(args[4])));
    using (var rsa = RSA.Create()) {
      var input = Encoding.UTF8.GetBytes("header.claims");
      var signature = rsa.SignData(input, HashAlgorithmName.SHA256, ${code.padding});
      var key = rsa.ExportParameters(false);
      Console.WriteLine("rsa " + Form(key.Modulus) + " " + Form(key.Exponent) + " " + Form(signature));
    }
  }
}
`,
  rust: (code: Parts) => `
use base64ct::{Base64, Base64UrlUnpadded, Encoding};
use hmac::{Hmac, Mac};
use sha2::Sha256;

// Debian's crates here have no serde_json: what it is called with is checked, and not what it writes.
mod serde_json {
    pub fn to_vec(value: &String) -> Result<Vec<u8>, std::fmt::Error> {
        Ok(value.clone().into_bytes())
    }
}

struct Request(Vec<u8>);
impl Request {
    fn body(self, body: Vec<u8>) -> Self {
        let _ = self;
        Request(body)
    }
}

fn base64(bytes: &[u8]) -> String {
    Base64::encode(bytes, &mut [0; 4096]).unwrap().to_owned()
}

fn is_fresh(now: u64, timestamp: &str) -> Result<bool, Box<dyn std::error::Error>> {
    Ok(${code.time})
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let (path, timestamp, event_id) = (&args[1], &args[2], &args[3]);
    let payload = args[4].clone();
    let secret = ${code.secret};
    ${code.sent};
    let mut mac = ${code.key}?;
    ${code.input};
    println!("body {}", base64(&body));
    println!("signature {}", ${code.form});
    println!("received {}", base64(&Request(Vec::new())${code.sender}.0));
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?.as_secs();
    println!("fresh {} {}", is_fresh(now, &now.to_string())?, is_fresh(now, "1")?);
    Ok(())
}
`,
  c: (code: Parts) => `
#include <stdio.h>
#include <string.h>
int main(int count, char **arguments) {
  printf("hex ");
  for (size_t at = 0; at < strlen(arguments[1]); at++) {
    unsigned char byte = (unsigned char)arguments[1][at];
    ${code.hex};
  }
  printf("\\n");
  return count == 2 ? 0 : 1;
}
`,
} as const;
