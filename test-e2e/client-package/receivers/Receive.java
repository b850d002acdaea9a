import com.standardwebhooks.Webhook;
import com.standardwebhooks.exceptions.WebhookVerificationException;
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;

class Receive {
    public static void main(String[] arguments) throws Exception {
        var webhook = new Webhook(arguments[0]);
        var server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[1])), 0);
        server.createContext("/webhooks", exchange -> {
            var body = new String(exchange.getRequestBody().readNBytes(2_000_000), StandardCharsets.UTF_8);
            try {
                webhook.verify(body, HttpHeaders.of(exchange.getRequestHeaders(), (name, value) -> true));
                System.out.println(body);
                exchange.sendResponseHeaders(204, -1);
            } catch (WebhookVerificationException refused) {
                exchange.sendResponseHeaders(400, -1);
            }
            exchange.close();
        });
        server.start();
    }
}
