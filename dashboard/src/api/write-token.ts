// The write token of the server, from the link that `cargo cobalt serve` prints. Imported first, so that the token is out of the
// address before anything else reads it.

const KEY = 'cobalt-write-token';
const FRAGMENT = /^#token=([0-9a-f]+)$/;

/** A token that the server has handed out, or one that cannot be stored; it lasts until the page is reloaded. */
let handedOut: string | undefined;
/** The token of the address, until the server has accepted it. Any site can link here, so it may be wrong. */
let candidate: string | undefined;

/** Takes the token out of the address. Returns whether there was one. */
export function takeTokenFromAddress(): boolean {
  const token = FRAGMENT.exec(location.hash)?.[1];
  if (token === undefined) return false;
  history.replaceState(history.state, '', location.pathname + location.search);
  candidate = token;
  return true;
}

export function writeToken(): string | undefined {
  const token = candidate ?? handedOut;
  if (token !== undefined) return token;
  try {
    return localStorage.getItem(KEY) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Moves the token of the address into the storage of this origin, which all tabs share. */
export function keepToken() {
  if (candidate === undefined) return;
  handedOut = undefined;
  try {
    localStorage.setItem(KEY, candidate);
  } catch {
    handedOut = candidate;
  }
  candidate = undefined;
}

/** Forgets the token of the address. Returns whether there was one. */
export function dropToken(): boolean {
  const isDropped = candidate !== undefined;
  candidate = undefined;
  return isDropped;
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
