// Not run by the tests of Hookproof, as a registry of crates is missing there: try it before you rely on it.
// Checks the token of a webhook whose body is on standard input; the key is the one of the sender's key set that the
// token's kid names: cargo add jsonwebtoken@9 sha2@0.10 base64@0.22 serde_json@1 subtle@2
//   HOOKPROOF_KEY=public.pem cargo run -- <listener URL> <tenant's base URL> <event id> <token> < body.json
use base64::{engine::general_purpose::URL_SAFE_NO_PAD, Engine};
use jsonwebtoken::{decode, Algorithm, DecodingKey, Validation};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::io::Read;
use std::time::{SystemTime, UNIX_EPOCH};
use subtle::ConstantTimeEq;

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

fn is_genuine(
    key: &DecodingKey, url: &str, base_url: &str, event_id: &str, token: &str, body: &[u8], now: u64,
) -> bool {
    // Versions of the library read over padding, with which one token would have several texts.
    let is_base64url = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if !is_event_id(event_id) || !token.bytes().all(is_base64url) {
        return false;
    }
    // The algorithm is fixed here, and never chosen by the token. Times are checked below, against one clock.
    let mut rules = Validation::new(Algorithm::RS256);
    rules.validate_exp = false;
    rules.validate_aud = false;
    rules.required_spec_claims.clear();
    let Ok(claims) = decode::<Value>(token, key, &rules).map(|token| token.claims) else { return false };
    let header = token.split('.').next().and_then(|part| URL_SAFE_NO_PAD.decode(part).ok());
    let Some(header) = header.and_then(|text| serde_json::from_slice::<Value>(&text).ok()) else { return false };
    if ["crit", "b64", "jwk", "jku", "x5u", "x5c"].iter().any(|name| header.get(name).is_some()) {
        return false;
    }
    let text = |name: &str| claims.get(name).and_then(Value::as_str).unwrap_or("");
    // The body has to be the bytes as received: parse it afterwards.
    let body_hash = URL_SAFE_NO_PAD.encode(Sha256::digest(body));
    claims.get("exp").and_then(Value::as_u64).is_some_and(|exp| exp > now && exp <= now + 600)
        && claims.get("nbf").map_or(true, |nbf| nbf.as_f64().is_some_and(|from| from <= now as f64))
        && text("sub") == base_url
        && text("aud") == url
        && text("htm") == "POST"
        && text("jti").eq_ignore_ascii_case(event_id)
        && bool::from(text("htb_s256").as_bytes().ct_eq(body_hash.as_bytes()))
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let pem = std::fs::read(std::env::var("HOOKPROOF_KEY").unwrap_or_default()).unwrap_or_default();
    if pem.is_empty() || args.len() < 5 {
        eprintln!("Set HOOKPROOF_KEY to a PEM file with the public key, and give two URLs, an event id and a token.");
        std::process::exit(2);
    }
    let key = DecodingKey::from_rsa_pem(&pem).expect("an RSA key in PEM");
    let mut body = Vec::new();
    std::io::stdin().read_to_end(&mut body).expect("a body");
    let clock = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970").as_secs();
    let now = args.get(5).map_or(clock, |given| given.parse().expect("a time"));
    let genuine = is_genuine(&key, &args[1], &args[2], &args[3], &args[4], &body, now);
    println!("{}", if genuine { "genuine" } else { "refused" });
    std::process::exit(if genuine { 0 } else { 1 });
}
