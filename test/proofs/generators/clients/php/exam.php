<?php
// The whole system of a merchant, as small as it can be, for the exam: `php -S 127.0.0.1:4000 exam.php`.
use Payments\Api\RefundsApi;
use Payments\{ApiException, Configuration};
use Payments\Model\{Amount, FailedRefundEventData, RefundEventData, RefundRequest};

require 'load.php';

// Each refund is a file, where yours has a database.
function known(string $reference): ?array
{
    $file = "refunds/$reference";
    return is_file($file) ? json_decode(file_get_contents($file), true) : null;
}

function store(string $reference, array $refund): void
{
    @mkdir('refunds');
    file_put_contents("refunds/$reference.new", json_encode($refund));
    rename("refunds/$reference.new", "refunds/$reference");
}

function receive(string $body): int
{
    [$id, $timestamp, $signature] = array_map(fn ($name) => $_SERVER["HTTP_WEBHOOK_$name"] ?? '', ['ID', 'TIMESTAMP', 'SIGNATURE']);
    if (!isGenuine(getenv('WEBHOOK_SECRET'), $id, $timestamp, $signature, $body)) {
        return 400;
    }
    $event = readEvent($body);
    $data = $event?->getData();
    $isRefund = $data instanceof RefundEventData || $data instanceof FailedRefundEventData;
    if (!$isRefund || !in_array($data->getPaymentStatus(), ['PENDING', 'AUTHORIZED', 'TERMINAL_FAILED'], true)) {
        return 204;
    }
    $refund = known($data->getClientReferenceId()) ?? ['requestKey' => $data->getRequestKey(), 'sequence' => 0];
    if ($event->getSequence() > $refund['sequence']) { // otherwise a repeat, or older
        $news = ['sequence' => $event->getSequence(), 'status' => $data->getPaymentStatus()];
        store($data->getClientReferenceId(), [...$refund, ...$news]);
    }
    return 204;
}

function issue(object $order): void
{
    // If it is known, it is the same decision to refund, after a run that did not finish.
    $refund = known($order->reference) ?? ['requestKey' => bin2hex(random_bytes(16)), 'sequence' => 0];
    store($order->reference, $refund);
    $configuration = (new Configuration())->setHost($order->url)->setAccessToken($order->token);
    $request = new RefundRequest([
        'payment_id' => $order->paymentId,
        'amount' => new Amount(['currency' => 'USD', 'value' => (float) $order->amount]),
        'client_reference_id' => $order->reference,
        'request_key' => $refund['requestKey'],
    ]);
    try {
        $status = refundOnce(new RefundsApi(withoutRedirects(), $configuration), $request);
    } catch (ApiException) {
        return;
    }
    $refund = known($order->reference);
    if ($refund['sequence'] === 0) {
        store($order->reference, [...$refund, 'status' => $status]);
    }
}

$body = file_get_contents('php://input');
$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
if ($path === '/webhooks') {
    http_response_code(receive($body));
} elseif ($path === '/refund') {
    issue(json_decode($body));
} else {
    echo known($_GET['reference'])['status'] ?? '';
}
