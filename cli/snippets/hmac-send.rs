// Not run by the tests of Hookproof, as a registry of crates is missing there: try it before you rely on it.
// Signs a body on standard input and sends it. Rust's standard library has neither hashes nor HTTP; the crates are the
// usual ones: cargo add hmac@0.12 sha2@0.10 base64ct@1 ureq@2, and cargo add uuid@1 --features v4
//   HOOKPROOF_SECRET=... cargo run -- [listener URL] [event id] < body.json
use base64ct::{Base64UrlUnpadded, Encoding};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use std::io::Read;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const LISTENER: &str = "http://127.0.0.1:4400/api/v1/webhooks/incoming/lst_local";

fn send_webhook(url: &str, secret: &str, event_id: &str, body: &[u8]) -> Result<ureq::Response, ureq::Error> {
    // Fresh for each attempt.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970").as_secs();
    let timestamp = now.to_string();
    // The key is the secret's text itself, and the bytes that are signed are the bytes that are sent.
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("any length is a key");
    mac.update(format!("{timestamp}.{event_id}.").as_bytes());
    mac.update(body);
    let mut text = [0; 43];
    let signature = Base64UrlUnpadded::encode(&mac.finalize().into_bytes(), &mut text).expect("43 characters for 32 bytes");
    let agent = ureq::AgentBuilder::new().redirects(0).timeout(Duration::from_secs(10)).build();
    agent
        .post(url)
        .set("Content-Type", "application/json")
        .set("Webhook-Timestamp", &timestamp)
        .set("Webhook-Event-Id", event_id)
        .set("Webhook-Signature", signature)
        .send_bytes(body)
}

fn main() {
    let mut args = std::env::args().skip(1);
    let url = args.next().unwrap_or_else(|| LISTENER.to_owned());
    let event_id = args.next().unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
    let secret = std::env::var("HOOKPROOF_SECRET").unwrap_or_default();
    if secret.is_empty() {
        eprintln!("Set HOOKPROOF_SECRET to the listener's secret.");
        std::process::exit(2);
    }
    let mut body = Vec::new();
    std::io::stdin().read_to_end(&mut body).expect("a body");
    let answer = match send_webhook(&url, &secret, &event_id, &body) {
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
