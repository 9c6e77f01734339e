// Not run by the tests of Hookproof, as a registry of crates is missing there: try it before you rely on it.
// A token for the Authorization header of a webhook:
// cargo add jsonwebtoken@9 sha2@0.10 base64@0.22 serde_json@1
//   HOOKPROOF_KEY=private.pem cargo run -- <kid> <listener URL> <tenant's base URL> <event id> < body.json
use base64::{engine::general_purpose::URL_SAFE_NO_PAD, Engine};
use jsonwebtoken::{encode, Algorithm, EncodingKey, Header};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::io::Read;
use std::time::{SystemTime, UNIX_EPOCH};

fn webhook_token(key: &EncodingKey, kid: &str, url: &str, base_url: &str, event_id: &str, body: &[u8]) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970").as_secs();
    let mut header = Header::new(Algorithm::RS256);
    header.kid = Some(kid.to_owned());
    let claims = json!({
        "sub": base_url,
        "aud": url,
        "exp": now + 300,
        "jti": event_id,
        "htm": "POST",
        "htb_s256": URL_SAFE_NO_PAD.encode(Sha256::digest(body)),
    });
    encode(&header, &claims, key).expect("a key for RS256")
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let pem = std::fs::read(std::env::var("HOOKPROOF_KEY").unwrap_or_default()).unwrap_or_default();
    if pem.is_empty() || args.len() < 5 {
        eprintln!("Set HOOKPROOF_KEY to a PEM file with the private key, and give a kid, two URLs and an event id.");
        std::process::exit(2);
    }
    let key = EncodingKey::from_rsa_pem(&pem).expect("an RSA key in PEM");
    let mut body = Vec::new();
    std::io::stdin().read_to_end(&mut body).expect("a body");
    println!("{}", webhook_token(&key, &args[1], &args[2], &args[3], &args[4], &body));
}
