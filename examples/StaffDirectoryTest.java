import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A suite of JUnit 5 on the local service. */
class StaffDirectoryTest {
  private static final String FIXTURE = """
      authConfigs:
        - { id: old }
        - { id: staff, displayName: Staff }
      """;

  @RegisterExtension
  static final LocalServiceExtension service = new LocalServiceExtension(FIXTURE);

  private StaffDirectory directory;

  @BeforeEach
  void signIn() throws Exception {
    directory = new StaffDirectory(service.url(), service.clientId(), service.clientSecret());
  }

  @Test
  void readsAName() throws Exception {
    assertEquals("Staff", directory.nameOf("staff"));
    assertEquals(1, service.requests("getAuthConfig"));
  }

  @Test
  void survivesAnOutage() throws Exception {
    service.fault("getAuthConfig", "{\"status\": 503, \"times\": 2}");
    assertEquals("Staff", directory.nameOf("staff"));
    assertEquals(3, service.requests("getAuthConfig"));
  }

  @Test
  void removesOne() throws Exception {
    directory.remove("old");
    assertFalse(service.state().contains("\"old\""));
    assertTrue(service.state().contains("\"staff\""));
  }

  @Test
  void beginsAsTheOthersDid() throws Exception {
    assertTrue(service.state().contains("\"old\""));
    assertEquals(0, service.requests("getAuthConfig"));
  }

  /** The service of the class around is the service here too. */
  @Nested
  class WhileItIsUnavailable {
    @Test
    void triesAgain() throws Exception {
      service.fault("getAuthConfig", "{\"status\": 503, \"times\": 1}");
      assertEquals("Staff", directory.nameOf("staff"));
    }
  }

  /** The code under test: it gets a token, and tries again while the service is unavailable. */
  static final class StaffDirectory {
    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private final String url;
    private final String token;

    StaffDirectory(String url, String clientId, String clientSecret) throws IOException, InterruptedException {
      this.url = url + "/api/v1/auth-configs/";
      var form = "grant_type=client_credentials&client_id=" + URLEncoder.encode(clientId, UTF_8)
          + "&client_secret=" + URLEncoder.encode(clientSecret, UTF_8);
      var request = HttpRequest.newBuilder(URI.create(url + "/auth/v1/token"))
          .header("Content-Type", "application/x-www-form-urlencoded")
          .POST(BodyPublishers.ofString(form))
          .build();
      token = text("access_token", HTTP.send(request, BodyHandlers.ofString()).body());
    }

    String nameOf(String authConfig) throws IOException, InterruptedException {
      return text("displayName", ask("GET", authConfig));
    }

    void remove(String authConfig) throws IOException, InterruptedException {
      ask("DELETE", authConfig);
    }

    private String ask(String method, String authConfig) throws IOException, InterruptedException {
      var request = HttpRequest.newBuilder(URI.create(url + authConfig))
          .header("Authorization", "Bearer " + token)
          .method(method, BodyPublishers.noBody())
          .build();
      for (int attempt = 0; attempt < 3; attempt++) {
        var answer = HTTP.send(request, BodyHandlers.ofString());
        if (answer.statusCode() == 200) return answer.body();
        if (answer.statusCode() != 503) throw new IOException("answered " + answer.statusCode());
      }
      throw new IOException("the service is unavailable");
    }

    private static String text(String name, String json) {
      var found = Pattern.compile("\"" + name + "\":\"([^\"\\\\]*)\"").matcher(json);
      if (!found.find()) throw new IllegalStateException("no " + name + " in " + json);
      return found.group(1);
    }
  }
}
