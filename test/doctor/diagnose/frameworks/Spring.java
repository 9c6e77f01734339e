import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.servlet.ServletContextHandler;
import org.eclipse.jetty.servlet.ServletHolder;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.ByteArrayHttpMessageConverter;
import org.springframework.http.converter.json.MappingJackson2HttpMessageConverter;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.support.StaticWebApplicationContext;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerAdapter;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/** A listener in Spring MVC, on Jetty. */
public class Spring {
  static boolean isSigned(HttpHeaders headers, byte[] body) throws Exception {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(System.getenv("LISTENER_SECRET").getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
    String start = headers.getFirst("Webhook-Timestamp") + "." + headers.getFirst("Webhook-Event-Id") + ".";
    mac.update(start.getBytes(StandardCharsets.UTF_8));
    byte[] right = Base64.getUrlEncoder().withoutPadding().encode(mac.doFinal(body));
    String sent = headers.getFirst("Webhook-Signature");
    return sent != null && MessageDigest.isEqual(right, sent.getBytes(StandardCharsets.UTF_8));
  }

  /** What @EnableWebMvc sets up: Debian's Spring 4.3 cannot read classes of newer Javas, which that needs. */
  public static class Adapter extends RequestMappingHandlerAdapter {
    public Adapter() {
      setMessageConverters(Arrays.asList(new ByteArrayHttpMessageConverter(), new MappingJackson2HttpMessageConverter()));
    }
  }

  @RestController
  public static class Right {
    // --- page
    @PostMapping("/api/v1/webhooks/incoming/{id}")
    ResponseEntity<Void> incoming(@RequestBody byte[] body, @RequestHeader HttpHeaders headers)
        throws Exception {
      return ResponseEntity.status(isSigned(headers, body) ? 200 : 401).build();
    }
    // ---
  }

  @RestController
  public static class Wrong {
    @PostMapping("/api/v1/webhooks/incoming/{id}")
    ResponseEntity<Void> incoming(@RequestBody Map<String, Object> body, @RequestHeader HttpHeaders headers)
        throws Exception {
      byte[] again = new ObjectMapper().writeValueAsBytes(body);
      return ResponseEntity.status(isSigned(headers, again) ? 200 : 401).build();
    }
  }

  public static void main(String[] arguments) throws Exception {
    StaticWebApplicationContext context = new StaticWebApplicationContext();
    context.registerSingleton("mapping", RequestMappingHandlerMapping.class);
    context.registerSingleton("adapter", Adapter.class);
    context.registerSingleton("listener", "wrong".equals(System.getenv("LISTENER")) ? Wrong.class : Right.class);
    ServletContextHandler handler = new ServletContextHandler();
    handler.addServlet(new ServletHolder(new DispatcherServlet(context)), "/");
    Server server = new Server(new java.net.InetSocketAddress("127.0.0.1", Integer.parseInt(System.getenv("PORT"))));
    server.setHandler(handler);
    server.start();
  }
}
