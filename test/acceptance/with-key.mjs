// node --import ./with-key.mjs SCRIPT BASE_URL: every request of the unmodified client has the key of HOLDFAST_KEY, as behind a proxy that adds it.
const plain = globalThis.fetch;
globalThis.fetch = (input, init) => {
  const request = new Request(input, init);
  request.headers.set('authorization', `Bearer ${process.env.HOLDFAST_KEY}`);
  return plain(request);
};
