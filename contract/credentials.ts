/** A user and a password before the host of a URL, in whatever text it stands. A password may have an @ in it. Bounded, so that a long text takes no time. */
const inUrls = /\b([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/?#"'`<>]+@/gi;
/** The same where the scheme is missing, as when a whole address is shown. */
const inAddress = /^[^\s/@:]+:[^\s/]*@(?=[^\s@]+$)/;

/** A text as it may be shown, logged and kept: no URL in it says with which user and password. */
export function withoutCredentials(text: string): string {
  return text.replace(inUrls, '$1[credentials]@').replace(inAddress, '[credentials]@');
}
