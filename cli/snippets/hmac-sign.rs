// The Webhook-Signature of a body on standard input. Rust's standard library has no hashes; the crates are those of
// RustCrypto: cargo add hmac@0.12 sha2@0.10 base64ct@1
//   HOOKPROOF_SECRET=... cargo run -- <timestamp> <event id> < body.json
use base64ct::{Base64UrlUnpadded, Encoding};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use std::io::Read;

fn webhook_signature(secret: &str, timestamp: &str, event_id: &str, body: &[u8]) -> String {
    // The key is the secret's text itself, not what it decodes to.
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("any length is a key");
    mac.update(format!("{timestamp}.{event_id}.").as_bytes());
    mac.update(body);
    let mut text = [0; 43];
    Base64UrlUnpadded::encode(&mac.finalize().into_bytes(), &mut text).expect("43 characters for 32 bytes").to_owned()
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let secret = std::env::var("HOOKPROOF_SECRET").unwrap_or_default();
    if secret.is_empty() || args.len() < 3 {
        eprintln!("Set HOOKPROOF_SECRET to the listener's secret, and give a timestamp and an event id.");
        std::process::exit(2);
    }
    let mut body = Vec::new();
    std::io::stdin().read_to_end(&mut body).expect("a body");
    println!("{}", webhook_signature(&secret, &args[1], &args[2], &body));
}
