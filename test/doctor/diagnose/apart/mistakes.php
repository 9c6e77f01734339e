<?php
// Mistakes of programs in PHP, signed by PHP; the form is that of mistakes.py.
const SECRET = 'Qm9vdHN0cmFwLXNlY3JldC1mb3ItdGhlLXRlc3RzLTE';
const T = '1790000000';
const ID = 'f47ac10b-58cc-4372-a567-0e02b2c3d479';

$event = ['type' => 'user.offboarded', 'zone' => 'EU', 'user' => ['url' => 'https://example.org/ü', 'name' => 'Zoë', 'last' => null], 'rate' => 2.0, 'list' => [1, 2]];
$body = json_encode($event, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_PRESERVE_ZERO_FRACTION);
$cases = [];

function b64url(string $bytes): string { return rtrim(strtr(base64_encode($bytes), '+/', '-_'), '='); }

function signed(string $what, array $cause, array $fix, string $signed, ?string $sent = null, ?string $key = null, ?string $source = null): void {
    global $body, $cases;
    $cases[] = ['what' => $what, 'source' => $source, 'cause' => $cause, 'fix' => $fix, 'secret' => SECRET,
        'headers' => ['Content-Type' => 'application/json', 'Webhook-Timestamp' => T, 'Webhook-Event-Id' => ID,
            'Webhook-Signature' => b64url(hash_hmac('sha256', T . '.' . ID . '.' . $signed, $key ?? SECRET, true))],
        'bodyBase64' => base64_encode($sent ?? $body)];
}

$same = ['Serialise once', 'raw', 'as received', 'same text', 'as it arrived', 'bytes'];
$parsed = json_decode($body, true);
signed('json_encode of the parsed body', ['slash', '\\'], $same, json_encode($event, JSON_PRESERVE_ZERO_FRACTION), source: 'https://github.com/stripe/stripe-php/issues/1715');
signed('json_encode, which drops .0 as well', ['number', 'slash', '\\'], $same, json_encode($parsed));
$sorted = $event; ksort($sorted);
signed('ksort and json_encode', ['top level', 'sort'], $same, json_encode($sorted, JSON_PRESERVE_ZERO_FRACTION));
signed('json_encode with JSON_PRETTY_PRINT', ['indent'], $same, json_encode($event, JSON_PRETTY_PRINT | JSON_PRESERVE_ZERO_FRACTION));
signed('json_encode with all of JSON_HEX_*', ['escape', 'JSON_HEX'], $same, json_encode($event, JSON_HEX_TAG | JSON_HEX_AMP | JSON_HEX_APOS | JSON_HEX_QUOT | JSON_PRESERVE_ZERO_FRACTION));
signed('array_filter before json_encode', ['null'], $same, json_encode(['type' => 'a', 'n' => 1]), '{"type":"a","gone":null,"n":1}');
signed('http_build_query', ['form'], $same, http_build_query(['type' => 'a b', 'user' => ['id' => 7, 'tags' => ['x', 'y']]]), '{"type":"a b","user":{"id":7,"tags":["x","y"]}}');
signed('an array as text', ['array', 'Array'], $same, 'Array');
signed('var_export or serialize() of it', ['serialize'], $same, serialize(['type' => 'a', 'n' => 1, 'on' => true, 'no' => null]), '{"type":"a","n":1,"on":true,"no":null}');
signed('addslashes', ['ackslash', 'escape'], $same, addslashes($body));
signed('an empty array for an empty object', ['empty'], $same, '{"a":[],"b":1}', '{"a":{},"b":1}', source: 'https://github.com/stripe/stripe-php/issues/1715');
signed('iconv to ASCII, transliterated by hand', ['?', 'ASCII'], ['UTF-8', 'UTF8'], str_replace(['ë', 'ü'], '?', $body));
signed('utf8_encode of UTF-8', ['twice', 'once more'], ['UTF-8', 'bytes', 'encod'], @utf8_encode($body));
signed('the file of the secret, with its line break', ['line break'], ['trim'], $body, key: SECRET . "\n");
signed('the secret through base64_decode', ['decoded'], ['text as it is'], $body, key: base64_decode(SECRET));
signed('htmlspecialchars', ['HTML'], $same, htmlspecialchars($body));
echo json_encode($cases);
