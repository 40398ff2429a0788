<?php
require is_file('vendor/autoload.php') ? 'vendor/autoload.php' : 'GuzzleHttp/autoload.php';
spl_autoload_register(function (string $class): void {
    $file = __DIR__ . '/payments/lib/' . str_replace('\\', '/', substr($class, strlen('Payments\\'))) . '.php';
    if (str_starts_with($class, 'Payments\\') && is_file($file)) {
        require $file;
    }
});
require 'refund.php';
