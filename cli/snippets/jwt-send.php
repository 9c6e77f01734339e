<?php
// Sends a body on standard input with a token for it, with PHP's openssl; firebase/php-jwt has the other algorithms:
//   HOOKPROOF_KEY=private.pem php send.php <kid> [listener URL] [event id] < body.json

const LISTENER = 'http://127.0.0.1:4400/api/v1/webhooks/incoming/lst_local';

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

/** @return array{int, string} the status and the answer; the status is 0 where none came */
function send_webhook(string $url, string $token, string $eventId, string $body): array
{
    $context = stream_context_create(['http' => [
        'method' => 'POST',
        'timeout' => 10,
        'follow_location' => 0,
        'ignore_errors' => true,
        'header' => [
            'Content-Type: application/json',
            'Webhook-Timestamp: ' . time(),
            "Webhook-Event-Id: $eventId",
            "Authorization: Bearer $token",
        ],
        'content' => $body,
    ]]);
    $answer = @file_get_contents($url, false, $context);
    if ($answer === false) {
        return [0, error_get_last()['message'] ?? ''];
    }
    return [(int) explode(' ', $http_response_header[0])[1], $answer];
}

// A UUID of version 4.
function new_event_id(): string
{
    $bytes = random_bytes(16);
    $bytes[6] = chr(ord($bytes[6]) & 0x0f | 0x40);
    $bytes[8] = chr(ord($bytes[8]) & 0x3f | 0x80);
    return vsprintf('%s%s-%s-%s-%s-%s%s%s', str_split(bin2hex($bytes), 4));
}

$body = stream_get_contents(STDIN);
if (!file_exists((string) getenv('HOOKPROOF_KEY')) || $argc < 2) {
    fwrite(STDERR, "Set HOOKPROOF_KEY to a PEM file with the private key, and give a kid.\n");
    exit(2);
}
$url = $argv[2] ?? LISTENER;
$eventId = $argv[3] ?? new_event_id();
$baseUrl = explode('/api/v1/', $url)[0]; // the tenant's
// Fresh for each attempt.
$token = webhook_token(file_get_contents(getenv('HOOKPROOF_KEY')), $argv[1], $url, $baseUrl, $eventId, $body);
[$status, $answer] = send_webhook($url, $token, $eventId, $body);
if ($status === 0) {
    fwrite(STDERR, "no answer: $answer\n");
    exit(1);
}
echo "$status $answer\n";
// 409 says that an earlier attempt with this id was processed.
exit($status < 300 || $status === 409 ? 0 : 1);
