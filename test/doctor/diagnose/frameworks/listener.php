<?php
function is_signed(string $body): bool {
    $input = ($_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '') . '.' . ($_SERVER['HTTP_WEBHOOK_EVENT_ID'] ?? '') . '.' . $body;
    $digest = hash_hmac('sha256', $input, getenv('LISTENER_SECRET'), true);
    $right = rtrim(strtr(base64_encode($digest), '+/', '-_'), '=');
    return hash_equals($right, $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '');
}

if (getenv('LISTENER') === 'wrong') {
    http_response_code(is_signed(json_encode($_POST)) ? 200 : 401);
} else {
    // --- page
    $body = file_get_contents('php://input');
    http_response_code(is_signed($body) ? 200 : 401);
    // ---
}
