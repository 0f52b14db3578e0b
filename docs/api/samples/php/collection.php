<?php
// Collects by STK push and waits for the end: COLLECTION_API=… PUBLIC_KEY=… php collection.php order-1
[$api, $publicKey, $reference] = [getenv('COLLECTION_API'), getenv('PUBLIC_KEY'), $argv[1] ?? ''];
if (!$api || !$publicKey || !$reference) fail('set COLLECTION_API and PUBLIC_KEY, name a reference');

// Store the reference before you send it. After a crash, run all of this again with it.
$payin = [
    'requestHeader' => ['requestType' => 'Collections'],
    'customerNumber' => '2250701021234',
    'transactionReference' => $reference,
    'transactionAmount' => 1500,
    'transactionCurrency' => 'XOF',
    'transactionCountry' => 'CI',
    'operatorCode' => 'CIMTN',
];
$asked = ['requestHeader', 'transactionReference', 'transactionCountry'];
$question = array_intersect_key($payin, array_flip($asked));
// The amount exactly as the body writes it, the reference, the number; of a status check the reference alone.
$payinModule = json_encode($payin['transactionAmount']) . $reference . $payin['customerNumber'];

/** The answer; an empty one if there is none. */
function send(string $path, string $module, array $body): array
{
    global $api, $publicKey;
    $keys = ['X-module: ' . base64_encode($module), 'X-business: ' . base64_encode($publicKey), 'X-app: api'];
    $context = stream_context_create(['http' => [
        'method' => 'POST',
        'header' => [...$keys, 'content-type: application/json'],
        'content' => json_encode($body),
        'timeout' => 15,
        'ignore_errors' => true, // a refusal has a body too
    ]]);
    return json_decode((string) @file_get_contents("$api/collection/v1/$path", false, $context), true) ?? [];
}

function fail(string $message): never
{
    fwrite(STDERR, "$message\n");
    exit(1);
}

$code = '25'; // nothing is recorded yet
for ($attempt = 0; ; $attempt += 1) {
    $answer = $code === '25' ? send('payin', $payinModule, $payin)['responseDetails'] ?? null : null;
    // Whatever the answer was, or if it was lost: the status is known. In production wait for the webhook first.
    $found = send('check-status', $reference, $question);
    ['responseCode' => $code, 'responseMessage' => $message] =
        $found['serverResponse']['responseDetails'] ?? ['responseCode' => '', 'responseMessage' => ''];
    if ($code === '00' || $code === '06') break;
    $passes = ['TOO MANY REQUESTS', 'SERVICE UNAVAILABLE', 'INTERNAL ERROR'];
    $reason = $answer['failedReason'] ?? '';
    $isCheckRefused = ($found['status'] ?? 0) === 400;
    $isRefused = $reason && !in_array($reason, $passes, true);
    if ($isRefused && ($code === '25' || $isCheckRefused)) fail("$reason: {$answer['statusDescription']}");
    if ($isCheckRefused) fail('the status check is refused: see its key and headers');
    // Waits 1 s, 2 s, 4 s and so on up to a minute, with some jitter.
    usleep(min(2 ** $attempt, 60) * random_int(750_000, 1_250_000));
}
echo "$reference $message\n"; // the webhook has the amount that was paid
