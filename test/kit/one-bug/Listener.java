import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.concurrent.Executors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** A listener in Java with one bug, which BUG names: java Listener.java; it prints its port. */
public class Listener {
    static final String BUG = System.getenv("BUG");
    static final String SECRET = System.getenv("SECRET");
    static final String UUID4 = "(?i)[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}";

    public static void main(String[] args) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.createContext("/", exchange -> {
            byte[] body = exchange.getRequestBody().readAllBytes();
            int status;
            try {
                status = status(exchange, body);
            } catch (Exception error) {
                status = 500;
            }
            exchange.getResponseHeaders().set("Server", "Java");
            exchange.sendResponseHeaders(status, -1);
            exchange.close();
        });
        server.setExecutor(Executors.newFixedThreadPool(4));
        server.start();
        System.out.println(server.getAddress().getPort());
    }

    static int status(HttpExchange exchange, byte[] body) throws Exception {
        if (!exchange.getRequestURI().getPath().equals("/api/v1/webhooks/incoming/lst_1")) return 404;
        if (!exchange.getRequestMethod().equals("POST")) return 405;
        if (body.length > 65536) return 413;
        String timestamp = header(exchange, "Webhook-Timestamp");
        String eventId = header(exchange, "Webhook-Event-Id");
        long now = System.currentTimeMillis() / 1000;
        if (!timestamp.matches("[1-9][0-9]{0,15}") || Math.abs(now - Long.parseLong(timestamp)) > 300) return 400;
        if (!eventId.matches(UUID4)) return 400;

        String key = BUG.equals("quotes") ? "\"" + SECRET + "\"" : SECRET;
        byte[] keyBytes = key.getBytes(StandardCharsets.UTF_8);
        if (BUG.equals("decoded")) keyBytes = Base64.getUrlDecoder().decode(SECRET);
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(keyBytes, "HmacSHA256"));
        mac.update((timestamp + "." + eventId + ".").getBytes(StandardCharsets.UTF_8));
        byte[] digest = mac.doFinal(body);
        Base64.Encoder encoder = Base64.getUrlEncoder();
        if (!BUG.equals("padding")) encoder = encoder.withoutPadding();
        if (!encoder.encodeToString(digest).equals(header(exchange, "Webhook-Signature"))) return 401;
        if (!header(exchange, "Content-Type").startsWith("application/json")) return 415;
        return new String(body, StandardCharsets.UTF_8).matches("(?s)\\s*[\\[{\"].*[\\]}\"]\\s*") ? 200 : 400;
    }

    static String header(HttpExchange exchange, String name) {
        String value = exchange.getRequestHeaders().getFirst(name);
        return value == null ? "" : value;
    }
}
