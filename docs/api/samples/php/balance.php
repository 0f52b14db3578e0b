<?php
// Asks for a balance with a signed request: PAYOUT_API=… PUBLIC_KEY=… SIGNING_SECRET=… php balance.php
[$api, $publicKey, $secret] = [getenv('PAYOUT_API'), getenv('PUBLIC_KEY'), getenv('SIGNING_SECRET')];
if (!$api || !$publicKey || !$secret) fail('set PAYOUT_API, PUBLIC_KEY and SIGNING_SECRET');

/** The headers of a request with exactly this path and query, from /api/v1/ or /collection/v1/ on, and this body. */
function signature_headers(string $method, string $path, string $body, string $secret): array
{
    $timestamp = (string) time();
    $digest = hash('sha256', $body);
    $signature = hash_hmac('sha256', implode("\n", ['v1', $timestamp, $method, $path, $digest]), $secret);
    return ["X-timestamp: $timestamp", "X-digest: $digest", "X-signature: v1=$signature"];
}

function fail(string $message): never
{
    fwrite(STDERR, "$message\n");
    exit(1);
}

[$method, $path] = ['POST', '/api/v1/wallets/balance?currency=GHS'];
$headers = [
    'x-api-key: ' . base64_encode($publicKey),
    ...signature_headers($method, $path, '', $secret), // this request has no body
];
$http = ['method' => $method, 'header' => $headers, 'timeout' => 15, 'ignore_errors' => true];
$answer = json_decode((string) @file_get_contents($api . $path, false, stream_context_create(['http' => $http])), true);
if (!isset($answer['responseCode'])) fail('no answer');
if ($answer['responseCode'] !== '00') fail("{$answer['responseCode']} {$answer['responseMessage']}");
echo "{$answer['responseData'][0]['currencyCode']} {$answer['responseData'][0]['balance']}\n";
