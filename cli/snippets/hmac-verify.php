<?php
// Checks the Webhook-Signature of a body on standard input, with PHP alone:
//   HOOKPROOF_SECRET=... php hmac-verify.php <timestamp> <event id> <signature> < body.json
// Behind a web server the body is file_get_contents('php://input'): the bytes as received, not $_POST.

function is_genuine(string $secret, string $timestamp, string $eventId, string $signature, string $body, int $now): bool
{
    if (preg_match('/^[0-9]{1,15}\z/', $timestamp) !== 1 || abs($now - (int) $timestamp) > 300) {
        return false;
    }
    // Nothing else ends the id: without its form a part of the body could be moved into it.
    if (preg_match('/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\z/i', $eventId) !== 1) {
        return false;
    }
    if ($secret === '') { // everybody can sign with it
        return false;
    }
    // The key is the secret's text itself, not what it decodes to.
    $digest = hash_hmac('sha256', "$timestamp.$eventId.$body", $secret, true);
    $expected = rtrim(strtr(base64_encode($digest), '+/', '-_'), '=');
    return hash_equals($expected, $signature); // in constant time
}

if ((string) getenv('HOOKPROOF_SECRET') === '' || $argc < 4) {
    fwrite(STDERR, "Set HOOKPROOF_SECRET to the listener's secret, and give a timestamp, an event id and a signature.\n");
    exit(2);
}
$now = (int) ($argv[4] ?? time());
$genuine = is_genuine(getenv('HOOKPROOF_SECRET'), $argv[1], $argv[2], $argv[3], stream_get_contents(STDIN), $now);
echo $genuine ? "genuine\n" : "refused\n";
exit($genuine ? 0 : 1);
