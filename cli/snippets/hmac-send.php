<?php
// Signs a body on standard input and sends it, with PHP alone:
//   HOOKPROOF_SECRET=... php send.php [listener URL] [event id] < body.json

const LISTENER = 'http://127.0.0.1:4400/api/v1/webhooks/incoming/lst_local';

/** @return array{int, string} the status and the answer; the status is 0 where none came */
function send_webhook(string $url, string $secret, string $eventId, string $body): array
{
    $timestamp = (string) time(); // fresh for each attempt
    // The key is the secret's text itself, and the bytes that are signed are the bytes that are sent.
    $digest = hash_hmac('sha256', "$timestamp.$eventId.$body", $secret, true);
    $context = stream_context_create(['http' => [
        'method' => 'POST',
        'timeout' => 10,
        'follow_location' => 0,
        'ignore_errors' => true,
        'header' => [
            'Content-Type: application/json',
            "Webhook-Timestamp: $timestamp",
            "Webhook-Event-Id: $eventId",
            'Webhook-Signature: ' . rtrim(strtr(base64_encode($digest), '+/', '-_'), '='),
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

if ((string) getenv('HOOKPROOF_SECRET') === '') {
    fwrite(STDERR, "Set HOOKPROOF_SECRET to the listener's secret.\n");
    exit(2);
}
$body = stream_get_contents(STDIN);
[$status, $answer] = send_webhook($argv[1] ?? LISTENER, getenv('HOOKPROOF_SECRET'), $argv[2] ?? new_event_id(), $body);
if ($status === 0) {
    fwrite(STDERR, "no answer: $answer\n");
    exit(1);
}
echo "$status $answer\n";
// 409 says that an earlier attempt with this id was processed.
exit($status < 300 || $status === 409 ? 0 : 1);
