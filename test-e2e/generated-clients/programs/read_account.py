import os

from openapi_client import AccountApi, ApiClient, Configuration

configuration = Configuration(host=os.environ["SIGNALBOX_URL"], api_key={"apiKey": os.environ["SIGNALBOX_KEY"]})
with ApiClient(configuration) as client:
    print(AccountApi(client).viewer().id)
