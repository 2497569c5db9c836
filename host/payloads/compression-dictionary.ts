/**
 * Frequent texts of payloads, for the encoding `holdfast/z1`. Never change a letter: compressed data points into this text, and another text needs
 * another encoding. The most frequent texts are last.
 */
export const dictionary = Buffer.from(
  [
    // English, as models and tools write it.
    ' please however because without between through another example information important available different number people result results value ',
    'following should would could there where which while these those about after again other under over only also into than then them they this that with ',
    'from have been were will your more what when some such each most must very make like time just know take year good find give many well work first last ',
    'I will  I have  you can  it is  in the  of the  to the  on the  for the  and the  with the  is a  to be  The  This is  has been  does not ',
    // JSON, as tools return it.
    '{"error":"","code":"","message":""},"data":{"items":[{"title":"","url":"https://www.","content":"","description":"","email":"","type":"","created_at":"2026-',
    'T00:00:00.000Z","updated_at":"2025-","count":0,"total":1,"amount":10,"price":1,"currency":"EUR","status":"open","ok":true,"found":false,"next":null,"orderId":"',
    '","name":"","id":"","query":"","path":"/","content":"\\n\\n- **: \\n```\\n","limit":10',
    // The manifest, schemas, questions.
    '{"version":1,"language":"en","defaults":{"tool":{"kind":"invokable","effect":"none","timeoutMs":60000,"heartbeatMs":10000,"attempts":5,',
    '"resultLimit":262144,"schemaHash":""},"model":{"timeoutMs":600000,"heartbeatMs":10000,"attempts":5}},"tools":{"","brief":[""],"effect":"idempotent","once",',
    '"reconcile":true},"models":{"default":"/model"},"workerMiddleware":[]}',
    '{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"":{"type":"string","enum":["","description":""},"":{"type":"number"},',
    '"items":{"type":"integer"},"boolean"}},"required":[""],"additionalProperties":false}',
    '{"interruptId":"","answer":{"type":"approve"},"reject","feedback":"","by":""}',
    '{"id":".t1.-0.approval.1","address":["","t1",".0","approval"],"agent":"","deadline":17,"kind":"approval","question","tool":"","callId":"","input":{"":""},',
    '"inputHash":"","info":{"question":""},"answerSchema":{}}',
    // The start of a run, its snapshot and its result.
    '{"start":{"version":1,"tenant":"default","id":"","agent":"","input":"","values":{},"stream":true,"options":{},"tags":[],"externalStorage":true}}',
    ',"snapshot":{"state":{"version":1,"id":"","tenant":"default","agent":"","input":null,"stream":true,"options":{},"values":{},"usage":{"inputTokens":',
    '10,"outputTokens":5},"session":{},"runLocal":{},"interrupts":[{"shown":{"delivered":[],"expired":[],"withdrawn":[],"frames":[],"journal":[{"kind":"","value":',
    '}]},"lists":{"":[{"role":"user","parts":[{"type":"text","text":""}],"id":"input-0"},{"role":"system"}]},"shown":[],"seen":[],"nextOffset":1,"events":[]}}',
    '{"output":"","text":"","usage":{"inputTokens":20,"outputTokens":10},"base":"/t2/model","splices":[[4,0,[""]]],"events":[{"type":"model-end"',
    // Rarer parts of calls, results and events.
    '"slots":{"instructions":"","tools":[""],"model":"/","settings":{"temperature":0,"maxTokens":4096},null,"workerMiddleware":[{"name":"","options":{}}],"stream":"live",',
    '"output":null,"retries":"kernel-partial","parse":[""],"specs":null,"deferred":null,"final":null,"catalog":null}',
    '"runLocal":{"base":"","set":{"":""},"delete":[""],"brought":[""]},"hidden":true,"told":true,"resumed":{"answer":"","state":{}},"rawInput":{},"key":"","address":"',
    '{"type":"custom","name":"","data":{}},{"type":"agent-start","run":true},{"type":"agent-end"},{"type":"agent-message"},{"type":"todo","content":"","status":"pending"},',
    '{"type":"interrupt-start","interrupt":""},{"type":"interrupt-end","interruptId":"","reason":"answer"}',
    '"outcome":{"type":"interrupted","info":{}},{"type":"failed","messageId":"","error":{"code":"tool-failed","message":"Error: ","retryable":true}},"multipart":true',
    '{"role":"tool","toolCallId":"","toolName":"","parts":[{"type":"tool-result","id":"","output":{}}],"isError":true},{"type":"reasoning","text":"","providerOptions":',
    '{"anthropic":{"signature":""},"openai":{"itemId":"","reasoningEncryptedContent":null}}},"finish":"length","parsed":[{"ok":true,"input":{},"hash":""}],"partial":',
    // A turn.
    '{"tool":"","callId":"call_","input":{"":""},"inputHash":"","path":[""],"options":{}}',
    '{"address":"/t1/.0","outcome":{"type":"done","messageId":"-4-8-9-a-b","output":""},"call":{"id":"call_","name":""}}',
    '{"address":"/t1/model","message":{"role":"assistant","parts":[{"type":"text","text":""},{"type":"tool-call","id":"call_","name":"","input":{"":""}}],"id":"-4"},',
    '"model":"/","usage":{"inputTokens":1,"outputTokens":1,"totalTokens":1,"cachedInputTokens":0,"reasoningTokens":0}}',
    '{"base":"/t1/model","splices":[[1,0,["-4","-4"]]],"path":[""],"turn":2,"events":[{"type":"model-end","agent":"","runPath":[""],"turn":1,"message":"-4","model":"/",',
    '"usage":{"inputTokens":1,"outputTokens":1}},{"type":"tool-start","agent":"","runPath":[""],"tool":"","callId":"call_","input":{"":""},"address":"/t1/.0"},',
    '{"type":"tool-end","agent":"","runPath":[""],"tool":"","callId":"call_","message":"-4"}]}',
  ].join(''),
);
