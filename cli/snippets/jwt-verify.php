<?php
// Checks the token of a webhook whose body is on standard input, with PHP's openssl; firebase/php-jwt has the other
// algorithms, and Firebase\JWT\CachedKeySet fetches the sender's key set, which has the key of the token's kid:
//   HOOKPROOF_KEY=public.pem php jwt-verify.php <listener URL> <tenant's base URL> <event id> <token> < body.json

function decoded(string $part): ?string
{
    $bytes = base64_decode(strtr($part, '-_', '+/'), true);
    // Only one text stands for the same bytes.
    return $bytes !== false && rtrim(strtr(base64_encode($bytes), '+/', '-_'), '=') === $part ? $bytes : null;
}

function is_genuine(
    string $key, string $url, string $baseUrl, string $eventId, string $token, string $body, int $now
): bool {
    if (preg_match('/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\z/i', $eventId) !== 1) {
        return false;
    }
    $parts = explode('.', $token);
    if (count($parts) !== 3) {
        return false;
    }
    [$header, $claims] = array_map(fn ($part) => json_decode(decoded($part) ?? '', true), $parts);
    $signature = decoded($parts[2]);
    // The algorithm is fixed here, and never chosen by the token.
    if ($signature === null || !is_array($header) || !is_array($claims) || ($header['alg'] ?? null) !== 'RS256') {
        return false;
    }
    if (array_intersect(['crit', 'b64', 'jwk', 'jku', 'x5u', 'x5c'], array_keys($header)) !== []) {
        return false;
    }
    if (openssl_verify("$parts[0].$parts[1]", $signature, $key, OPENSSL_ALGO_SHA256) !== 1) {
        return false;
    }
    $exp = $claims['exp'] ?? null;
    $nbf = array_key_exists('nbf', $claims) ? $claims['nbf'] : 0;
    // The body has to be the bytes as received: parse it afterwards.
    $bodyHash = rtrim(strtr(base64_encode(hash('sha256', $body, true)), '+/', '-_'), '=');
    return is_int($exp) && $exp > $now && $exp <= $now + 600
        && (is_int($nbf) || is_float($nbf)) && $nbf <= $now
        && ($claims['sub'] ?? null) === $baseUrl
        && ($claims['aud'] ?? null) === $url
        && ($claims['htm'] ?? null) === 'POST'
        && is_string($claims['jti'] ?? null) && strtolower($claims['jti']) === strtolower($eventId)
        && is_string($claims['htb_s256'] ?? null) && hash_equals($bodyHash, $claims['htb_s256']);
}

if (!file_exists((string) getenv('HOOKPROOF_KEY')) || $argc < 5) {
    fwrite(STDERR, "Set HOOKPROOF_KEY to a PEM file with the public key, and give two URLs, an event id and a token.\n");
    exit(2);
}
$now = (int) ($argv[5] ?? time());
$key = file_get_contents(getenv('HOOKPROOF_KEY'));
$genuine = is_genuine($key, $argv[1], $argv[2], $argv[3], $argv[4], stream_get_contents(STDIN), $now);
echo $genuine ? "genuine\n" : "refused\n";
exit($genuine ? 0 : 1);
