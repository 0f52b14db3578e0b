<?php
// Receives webhooks: WEBHOOK_SECRET=… php -S 127.0.0.1:8080 receiver.php

/** True if the exact body was signed with the secret within the last five minutes. */
function is_from_pesewa(array $server, string $body, string $secret): bool
{
    $id = $server['HTTP_WEBHOOK_ID'] ?? '';
    $timestamp = $server['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    if (!preg_match('/^[0-9]+$/D', $timestamp) || abs(time() - (int) $timestamp) > 300) return false;
    $key = base64_decode(str_replace('whsec_', '', $secret));
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
    foreach (explode(' ', $server['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $signature) {
        if (hash_equals($expected, $signature)) return true;
    }
    return false;
}

$secret = getenv('WEBHOOK_SECRET') ?: throw new RuntimeException('set WEBHOOK_SECRET');
$body = file_get_contents('php://input');
if (!is_from_pesewa($_SERVER, $body, $secret)) {
    http_response_code(401);
    exit;
}
// In your database, with a unique key; here a file that only one request can create.
$stored = @fopen(sys_get_temp_dir() . '/webhook-' . hash('sha256', $_SERVER['HTTP_WEBHOOK_ID']), 'x');
if ($stored !== false) fwrite($stored, $body);
http_response_code(200);
if (function_exists('fastcgi_finish_request')) fastcgi_finish_request(); // answers before the work
if ($stored === false) exit;
$webhook = json_decode($body, true);
$line = isset($webhook['data'])
    ? "{$webhook['data']['merchantReference']} {$webhook['data']['transactionStatus']}" // a payout
    : "{$webhook['merchant_reference']} {$webhook['status']}"; // a collection
file_put_contents('php://stdout', "$line\n");
