<?php
// Requests a payout and waits for its end: PAYOUT_API=… PUBLIC_KEY=… php payout.php inv-1002
[$api, $publicKey, $reference] = [getenv('PAYOUT_API'), getenv('PUBLIC_KEY'), $argv[1] ?? ''];
if (!$api || !$publicKey || !$reference) fail('set PAYOUT_API and PUBLIC_KEY, name a reference');

// Store reference and body before you send them. After a crash, run all of this again with both.
$payout = json_encode([
    'transactionReference' => $reference,
    'country' => 'Ghana',
    'currency' => 'GHS',
    'channel' => 'Mobile Money',
    'beneficiary' => [
        'accountName' => 'Ama Mensah',
        'accountNumber' => '0240001234',
        'bankCode' => 'GHMTN',
        'amount' => 25.5, // written as such with serialize_precision -1, PHP's default
    ],
    'sender' => ['name' => 'Demo Merchant', 'email' => 'payouts@example.com'],
]);

/** The answer; null if there is none, or if it says to ask again. */
function send(string $path, string $body = ''): ?array
{
    global $api, $publicKey;
    $context = stream_context_create(['http' => [
        'method' => $body === '' ? 'GET' : 'POST',
        'header' => ['x-api-key: ' . base64_encode($publicKey), 'content-type: application/json'],
        'content' => $body,
        'timeout' => 15,
        'ignore_errors' => true, // a refusal has a body too
    ]]);
    $answer = json_decode((string) @file_get_contents("$api/api/v1/transactions/$path", false, $context), true);
    return in_array($answer['responseCode'] ?? null, ['65', '91', '96', null], true) ? null : $answer;
}

function fail(string $message): never
{
    fwrite(STDERR, "$message\n");
    exit(1);
}

$isStored = false;
for ($attempt = 0; ; $attempt += 1) {
    // Sent again under the same reference, it is still one payout.
    $answer = $isStored ? null : send('transfer/single', $payout);
    $refusal = $answer ? "{$answer['responseCode']} {$answer['responseMessage']}" : '';
    if (($answer['responseCode'] ?? '') === '94') fail($refusal); // another payout has this reference
    // Whatever the answer was, or if it was lost: the lookup knows. In production wait for the webhook first.
    $found = send(rawurlencode($reference) . '/query');
    $code = $found['responseCode'] ?? '';
    $isStored = $code !== '25'; // if the lookup was lost too, look it up again
    if (!$isStored && $answer && $answer['responseCode'] !== '09') fail($refusal);
    if ($found && $isStored && $code !== '00') fail("$code {$found['responseMessage']}");
    $status = $found['responseData']['transactionStatus'] ?? 'INITIALIZED';
    if ($status !== 'INITIALIZED') break;
    // Waits 1 s, 2 s, 4 s and so on up to a minute, with some jitter.
    usleep(min(2 ** $attempt, 60) * random_int(750_000, 1_250_000));
}
echo "$reference $status\n";
