// The write token of the server, from the link that `cargo cobalt serve` prints. Imported first, so that the token is out of the
// address before anything else reads it.

const KEY = 'cobalt-write-token';
const FRAGMENT = /^#token=([0-9a-f]+)$/;

/** A token that the server has handed out; only in memory. */
let handedOut: string | undefined;
/** The stored token before that of the address. Any site can link here, so the new one may be wrong. */
let replaced: string | undefined;

/** Moves the token from the address into the storage of this origin, which all tabs share. Returns whether there was one. */
export function takeTokenFromAddress(): boolean {
  const token = FRAGMENT.exec(location.hash)?.[1];
  if (token === undefined) return false;
  history.replaceState(history.state, '', location.pathname + location.search);
  handedOut = undefined;
  try {
    replaced = localStorage.getItem(KEY) ?? undefined;
    localStorage.setItem(KEY, token);
  } catch {
    // Without storage, the token lasts until the page is reloaded.
    handedOut = token;
  }
  return true;
}

export function writeToken(): string | undefined {
  if (handedOut !== undefined) return handedOut;
  try {
    return localStorage.getItem(KEY) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Restores the token that the rejected one has replaced. Returns whether there was one. */
export function restoreReplacedToken(): boolean {
  if (replaced === undefined) return false;
  localStorage.setItem(KEY, replaced);
  replaced = undefined;
  return true;
}

export function setHandedOutToken(token: string) {
  handedOut = token;
}

/** Calls `onChange` when another tab, or a link opened in this one, has brought a token. */
export function onTokenChange(onChange: () => void): () => void {
  const onStorage = (event: StorageEvent) => event.key === KEY && onChange();
  const onHash = () => takeTokenFromAddress() && onChange();
  window.addEventListener('storage', onStorage);
  window.addEventListener('hashchange', onHash);
  return () => {
    window.removeEventListener('storage', onStorage);
    window.removeEventListener('hashchange', onHash);
  };
}

takeTokenFromAddress();
