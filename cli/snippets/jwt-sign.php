<?php
// A token for the Authorization header of a webhook, with PHP's openssl; firebase/php-jwt has the other algorithms:
//   HOOKPROOF_KEY=private.pem php jwt-sign.php <kid> <listener URL> <tenant's base URL> <event id> < body.json

function base64url(string $bytes): string
{
    return rtrim(strtr(base64_encode($bytes), '+/', '-_'), '=');
}

function webhook_token(string $key, string $kid, string $url, string $baseUrl, string $eventId, string $body): string
{
    $part = fn (array $value): string => base64url(json_encode($value, JSON_UNESCAPED_SLASHES | JSON_THROW_ON_ERROR));
    $signed = $part(['alg' => 'RS256', 'kid' => $kid, 'typ' => 'JWT']) . '.' . $part([
        'sub' => $baseUrl,
        'aud' => $url,
        'exp' => time() + 300,
        'jti' => $eventId,
        'htm' => 'POST',
        'htb_s256' => base64url(hash('sha256', $body, true)),
    ]);
    openssl_sign($signed, $signature, $key, OPENSSL_ALGO_SHA256) || exit(2);
    return $signed . '.' . base64url($signature);
}

if (!file_exists((string) getenv('HOOKPROOF_KEY')) || $argc < 5) {
    fwrite(STDERR, "Set HOOKPROOF_KEY to a PEM file with the private key, and give a kid, two URLs and an event id.\n");
    exit(2);
}
$key = file_get_contents(getenv('HOOKPROOF_KEY'));
echo webhook_token($key, $argv[1], $argv[2], $argv[3], $argv[4], stream_get_contents(STDIN)), "\n";
