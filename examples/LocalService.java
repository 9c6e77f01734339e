import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Checks on the local service, in Java 17 and nothing else.
 *
 * <pre>java examples/LocalService.java</pre>
 *
 * HOOKPROOF is the command that is started: `hookproof` by default.
 */
public final class LocalService implements AutoCloseable {
  private static final String FIXTURE = """
      authConfigs:
        - { id: staff, displayName: Staff }
      """;

  public static void main(String[] args) throws Exception {
    try (var service = new LocalService(FIXTURE)) {
      var directory = new StaffDirectory(service.url, service.clientId, service.clientSecret);
      check("reads a name", directory.nameOf("staff").equals("Staff"));
      check("asks once", service.requests() == 1);

      service.control("POST", "reset", "{}");
      service.control("PUT", "faults/getAuthConfig", "{\"status\": 503, \"times\": 2}");
      check("survives an outage", directory.nameOf("staff").equals("Staff"));
      check("asks until it is over", service.requests() == 3);
    }
  }

  private static void check(String name, boolean isRight) {
    if (!isRight) throw new AssertionError(name);
    System.out.println("ok " + name);
  }

  /** The code under test: it gets a token, and tries again while the service is unavailable. */
  static final class StaffDirectory {
    private final String url;
    private final String token;

    StaffDirectory(String url, String clientId, String clientSecret) throws IOException, InterruptedException {
      this.url = url;
      var form = "grant_type=client_credentials&client_id=" + URLEncoder.encode(clientId, UTF_8)
          + "&client_secret=" + URLEncoder.encode(clientSecret, UTF_8);
      var request = HttpRequest.newBuilder(URI.create(url + "/auth/v1/token"))
          .header("Content-Type", "application/x-www-form-urlencoded")
          .POST(BodyPublishers.ofString(form))
          .build();
      token = text("access_token", HTTP.send(request, BodyHandlers.ofString()).body());
    }

    String nameOf(String authConfig) throws IOException, InterruptedException {
      for (int attempt = 0; attempt < 3; attempt++) {
        var answer = send("GET", url + "/api/v1/auth-configs/" + authConfig, token, "");
        if (answer.statusCode() == 200) return text("displayName", answer.body());
        if (answer.statusCode() != 503) throw new IOException("answered " + answer.statusCode());
      }
      throw new IOException("the service is unavailable");
    }
  }

  private static final HttpClient HTTP = HttpClient.newHttpClient();

  final String url;
  final String clientId;
  final String clientSecret;
  private final String controlToken;
  private final Process process;
  private final Path folder = Files.createTempDirectory("local-service-");

  /** `hookproof service start` on a free port, with a database that goes with it. */
  LocalService(String fixture) throws IOException, InterruptedException {
    var ready = folder.resolve("ready.json");
    var file = Files.writeString(folder.resolve("fixture.yaml"), fixture);
    var command = System.getenv().getOrDefault("HOOKPROOF", "hookproof").split(" ");
    var options = List.of("service", "start", "--port", "0", "--db", folder.resolve("service.db").toString(),
        "--fixture", file.toString(), "--ready-file", ready.toString(), "--no-ui", "--quiet");
    process = new ProcessBuilder(Stream.concat(Stream.of(command), options.stream()).toList())
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
    try {
      for (int waits = 0; !Files.exists(ready); waits++) {
        if (waits == 1_500 || !process.isAlive()) throw new IOException("the service has not started");
        Thread.sleep(20);
      }
      var addresses = Files.readString(ready);
      url = text("url", addresses);
      clientId = text("clientId", addresses);
      clientSecret = Files.readString(Path.of(text("clientSecretFile", addresses))).strip();
      controlToken = Files.readString(Path.of(text("controlTokenFile", addresses))).strip();
    } catch (IOException | InterruptedException | RuntimeException error) {
      close();
      throw error;
    }
  }

  /** The remote control: faults, clock, reset, snapshots, journal. */
  String control(String method, String path, String json) throws IOException, InterruptedException {
    var answer = send(method, url + "/local/v1/" + path, controlToken, json);
    if (answer.statusCode() != 200) throw new IOException("answered " + answer.body());
    return answer.body();
  }

  /** How often the auth config was asked for. */
  int requests() throws IOException, InterruptedException {
    var found = control("POST", "journal/search", "{\"operation\": \"getAuthConfig\"}");
    return Integer.parseInt(first("\"count\":([0-9]+)", found));
  }

  @Override
  public void close() throws IOException, InterruptedException {
    process.destroy();
    process.waitFor();
    try (var files = Files.walk(folder)) {
      for (var file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
    }
  }

  private static HttpResponse<String> send(String method, String url, String token, String json)
      throws IOException, InterruptedException {
    var request = HttpRequest.newBuilder(URI.create(url))
        .header("Authorization", "Bearer " + token)
        .header("Content-Type", "application/json")
        .method(method, BodyPublishers.ofString(json))
        .build();
    return HTTP.send(request, BodyHandlers.ofString());
  }

  /** A text of an answer. Java has no JSON of its own; use the library that your suite has. */
  private static String text(String name, String json) {
    return first("\"" + name + "\":\"([^\"\\\\]*)\"", json);
  }

  private static String first(String pattern, String text) {
    Matcher found = Pattern.compile(pattern).matcher(text);
    if (!found.find()) throw new IllegalStateException("no " + pattern + " in " + text);
    return found.group(1);
  }
}
