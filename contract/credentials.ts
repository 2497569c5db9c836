/** A user and a password in a URL. A password may have an @. Bounded, so long texts take no time. */
const inUrls = /\b([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/?#"'`<>]+@/gi;
/** The same without a scheme, as in an address. */
const inAddress = /^[^\s/@:]+:[^\s/]*@(?=[^\s@]+$)/;

/** A text without the credentials of its URLs, to show, log or keep. */
export function withoutCredentials(text: string): string {
  return text.replace(inUrls, '$1[credentials]@').replace(inAddress, '[credentials]@');
}
