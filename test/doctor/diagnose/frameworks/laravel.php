<?php
// Laravel from Debian's package, without a project around it.
require '/usr/share/php/Illuminate/autoload.php';

use Illuminate\Foundation\Http\Middleware\ConvertEmptyStringsToNull;
use Illuminate\Foundation\Http\Middleware\TrimStrings;
use Illuminate\Http\Request;
use Illuminate\Http\Response;
use Illuminate\Support\Facades\Facade;
use Illuminate\Support\Facades\Route;

class HttpKernel extends Illuminate\Foundation\Http\Kernel
{
    protected $bootstrappers = [];
    protected $middleware = [TrimStrings::class, ConvertEmptyStringsToNull::class];
}

function isSigned(Request $request, string $body): bool
{
    $input = $request->header('Webhook-Timestamp') . '.' . $request->header('Webhook-Event-Id') . '.' . $body;
    $digest = hash_hmac('sha256', $input, getenv('LISTENER_SECRET'), true);
    $right = rtrim(strtr(base64_encode($digest), '+/', '-_'), '=');
    return hash_equals($right, $request->header('Webhook-Signature') ?? '');
}

$app = new Illuminate\Foundation\Application(sys_get_temp_dir());
Facade::setFacadeApplication($app);

if (getenv('LISTENER') === 'wrong') {
    Route::post('/api/v1/webhooks/incoming/{id}', function (Request $request) {
        return new Response('', isSigned($request, json_encode($request->all())) ? 200 : 401);
    });
} else {
    // --- page
    Route::post('/api/v1/webhooks/incoming/{id}', function (Request $request) {
        return new Response('', isSigned($request, $request->getContent()) ? 200 : 401);
    });
    // ---
}

$_SERVER['SCRIPT_NAME'] = '/index.php'; // as a web server has it, and php -S does not
$app->make(HttpKernel::class)->handle(Request::capture())->send();
