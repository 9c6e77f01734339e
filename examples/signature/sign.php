<?php
// The Webhook-Signature of a body on standard input, with PHP alone:
//   HOOKPROOF_SECRET=... php sign.php <timestamp> <event id> < body.json

function webhook_signature(string $secret, string $timestamp, string $eventId, string $body): string
{
    // The key is the secret's text itself, not what it decodes to.
    $digest = hash_hmac('sha256', "$timestamp.$eventId.$body", $secret, true);
    return rtrim(strtr(base64_encode($digest), '+/', '-_'), '=');
}

if ((string) getenv('HOOKPROOF_SECRET') === '' || $argc < 3) {
    fwrite(STDERR, "Set HOOKPROOF_SECRET to the listener's secret, and give a timestamp and an event id.\n");
    exit(2);
}
echo webhook_signature(getenv('HOOKPROOF_SECRET'), $argv[1], $argv[2], stream_get_contents(STDIN)), "\n";
