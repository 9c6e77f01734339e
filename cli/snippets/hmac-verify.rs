// Checks the Webhook-Signature of a body on standard input. Rust's standard library has no hashes; the crates are those
// of RustCrypto: cargo add hmac@0.12 sha2@0.10 base64ct@1
//   HOOKPROOF_SECRET=... cargo run -- <timestamp> <event id> <signature> < body.json
use base64ct::{Base64UrlUnpadded, Encoding};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use std::io::Read;
use std::time::{SystemTime, UNIX_EPOCH};

// A UUID of version 4.
fn is_event_id(id: &str) -> bool {
    id.len() == 36
        && id.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            14 => byte == b'4',
            19 => b"89abAB".contains(&byte),
            _ => byte.is_ascii_hexdigit(),
        })
}

// The body has to be the bytes as received: parse it afterwards.
fn is_genuine(secret: &str, timestamp: &str, event_id: &str, signature: &str, body: &[u8], now: u64) -> bool {
    let is_number = (1..=15).contains(&timestamp.len()) && timestamp.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number || timestamp.parse::<u64>().map_or(true, |at| at.abs_diff(now) > 300) {
        return false;
    }
    // Nothing else ends the id: without its form a part of the body could be moved into it.
    if !is_event_id(event_id) {
        return false;
    }
    if secret.is_empty() {
        return false; // everybody can sign with it
    }
    let mut bytes = [0; 32];
    let shown = match Base64UrlUnpadded::decode(signature, &mut bytes) {
        Ok(shown) => shown,
        Err(_) => return false,
    };
    // The key is the secret's text itself, not what it decodes to.
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("any length is a key");
    mac.update(format!("{timestamp}.{event_id}.").as_bytes());
    mac.update(body);
    mac.verify_slice(shown).is_ok() // in constant time
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let secret = std::env::var("HOOKPROOF_SECRET").unwrap_or_default();
    if secret.is_empty() || args.len() < 4 {
        eprintln!("Set HOOKPROOF_SECRET to the listener's secret, and give a timestamp, an event id and a signature.");
        std::process::exit(2);
    }
    let mut body = Vec::new();
    std::io::stdin().read_to_end(&mut body).expect("a body");
    let clock = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970").as_secs();
    let now = args.get(4).map_or(clock, |given| given.parse().expect("a time"));
    let genuine = is_genuine(&secret, &args[1], &args[2], &args[3], &body, now);
    println!("{}", if genuine { "genuine" } else { "refused" });
    std::process::exit(if genuine { 0 } else { 1 });
}
