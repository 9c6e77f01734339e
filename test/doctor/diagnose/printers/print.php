<?php
// What PHP prints; the arguments are a plain body and one with numbers.
[, $plain, $numbers] = $argv;
$object = json_decode($plain);
$array = json_decode($plain, true);
$sorted = $array;
ksort($sorted);
$flat = array_filter($array, 'is_scalar');
echo json_encode([
    'PHP, json_encode' => json_encode($object),
    'PHP, json_encode of an array' => json_encode($array),
    'PHP, JSON_PRETTY_PRINT' => json_encode($object, JSON_PRETTY_PRINT),
    'PHP, JSON_UNESCAPED_SLASHES' => json_encode($object, JSON_UNESCAPED_SLASHES),
    'PHP, JSON_UNESCAPED_UNICODE' => json_encode($object, JSON_UNESCAPED_UNICODE),
    'PHP, JSON_HEX_*' => json_encode($object, JSON_HEX_TAG | JSON_HEX_AMP | JSON_HEX_APOS | JSON_HEX_QUOT),
    'PHP, ksort' => json_encode($sorted, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE),
    'PHP, numbers' => json_encode(json_decode($numbers)),
    'PHP, http_build_query' => http_build_query($array),
    'PHP, serialize' => serialize($array),
    'PHP, htmlspecialchars' => htmlspecialchars($plain),
    'PHP, addslashes' => addslashes($plain),
]);
