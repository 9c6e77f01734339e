// Not run by the tests of Hookproof, as a registry of crates is missing there: try it before you rely on it.
// Sends a body on standard input with a token for it:
// cargo add jsonwebtoken@9 sha2@0.10 base64@0.22 serde_json@1 ureq@2, and cargo add uuid@1 --features v4
//   HOOKPROOF_KEY=private.pem cargo run -- <kid> [listener URL] [event id] < body.json
use base64::{engine::general_purpose::URL_SAFE_NO_PAD, Engine};
use jsonwebtoken::{encode, Algorithm, EncodingKey, Header};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::io::Read;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const LISTENER: &str = "http://127.0.0.1:4400/api/v1/webhooks/incoming/lst_local";

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

fn send_webhook(url: &str, token: &str, event_id: &str, body: &[u8]) -> Result<ureq::Response, ureq::Error> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970").as_secs();
    let agent = ureq::AgentBuilder::new().redirects(0).timeout(Duration::from_secs(10)).build();
    agent
        .post(url)
        .set("Content-Type", "application/json")
        .set("Webhook-Timestamp", &now.to_string())
        .set("Webhook-Event-Id", event_id)
        .set("Authorization", &format!("Bearer {token}"))
        .send_bytes(body)
}

fn main() {
    let mut args = std::env::args().skip(1);
    let kid = args.next().unwrap_or_default();
    let url = args.next().unwrap_or_else(|| LISTENER.to_owned());
    let event_id = args.next().unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
    let base_url = url.split("/api/v1/").next().expect("the tenant's");
    let pem = std::fs::read(std::env::var("HOOKPROOF_KEY").unwrap_or_default()).unwrap_or_default();
    if pem.is_empty() || kid.is_empty() {
        eprintln!("Set HOOKPROOF_KEY to a PEM file with the private key, and give a kid.");
        std::process::exit(2);
    }
    let key = EncodingKey::from_rsa_pem(&pem).expect("an RSA key in PEM");
    let mut body = Vec::new();
    std::io::stdin().read_to_end(&mut body).expect("a body");
    // Fresh for each attempt.
    let token = webhook_token(&key, &kid, &url, base_url, &event_id, &body);
    let answer = match send_webhook(&url, &token, &event_id, &body) {
        Ok(answer) | Err(ureq::Error::Status(_, answer)) => answer,
        Err(error) => {
            eprintln!("no answer: {error}");
            std::process::exit(1);
        }
    };
    let status = answer.status();
    println!("{status} {}", answer.into_string().unwrap_or_default());
    // 409 says that an earlier attempt with this id was processed.
    std::process::exit(if status < 300 || status == 409 { 0 } else { 1 });
}
