<?php
// A listener in PHP with one bug, which BUG names: php -S 127.0.0.1:0 listener.php
$bug = getenv('BUG');
$secret = getenv('SECRET');
$header = fn ($name) => $_SERVER['HTTP_' . strtoupper(strtr($name, '-', '_'))] ?? '';
$body = file_get_contents('php://input');

function answer($status) {
    http_response_code($status);
    exit;
}

if ($_SERVER['REQUEST_URI'] !== '/api/v1/webhooks/incoming/lst_1') answer(404);
if ($_SERVER['REQUEST_METHOD'] !== 'POST') answer(405);
$timestamp = $header('Webhook-Timestamp');
$eventId = $header('Webhook-Event-Id');
if (!preg_match('/^[1-9]\d{0,15}$/D', $timestamp) || abs(time() - (int) $timestamp) > 300) answer(400);
if (!preg_match('/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/iD', $eventId)) answer(400);

if ($bug === 'newline') $secret .= "\n";
$signed = $body;
if ($bug === 'trim') $signed = trim($body);
if ($bug === 'json_encode') $signed = json_encode(json_decode($body, true));
$input = $bug === 'body-only' ? $signed : "$timestamp.$eventId.$signed";
$mac = hash_hmac('sha256', $input, $secret, true);
$expected = rtrim(strtr(base64_encode($mac), '+/', '-_'), '=');
if ($bug === 'prefix') $expected = 'sha256=' . bin2hex($mac);
if (!hash_equals($expected, $header('Webhook-Signature'))) answer(401);
if (!str_starts_with($_SERVER['CONTENT_TYPE'] ?? '', 'application/json')) answer(415);
json_decode($body);
answer(json_last_error() === JSON_ERROR_NONE ? 200 : 400);
