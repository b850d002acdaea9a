import org.openapitools.client.ApiClient;
import org.openapitools.client.api.AccountApi;

final class ReadAccount {
    public static void main(String[] arguments) throws Exception {
        ApiClient client = new ApiClient().setBasePath(System.getenv("SIGNALBOX_URL"));
        client.setApiKey(System.getenv("SIGNALBOX_KEY"));
        System.out.println(new AccountApi(client).viewer(null, null).getId());
    }
}
