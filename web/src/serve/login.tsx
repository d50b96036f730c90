import { useState } from "preact/hooks";

// Asks for a token; the server exchanges it for a cookie, and the page forgets it.
export function Login(props: { logIn: (token: string) => Promise<void>; problem: string }) {
  const [token, setToken] = useState("");
  const [isAsking, setAsking] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    setAsking(true);
    await props.logIn(token.trim());
    setAsking(false);
  };
  return (
    <main class="served">
      <form class="login" onSubmit={submit}>
        <h1><span class="mark">fath<i>o</i>m</span></h1>
        <p>The terminal in which <code>fathom serve</code> runs shows a link that logs you in. Or enter a token here.</p>
        <label>
          Token
          <input
            type="password"
            name="token"
            autocomplete="current-password"
            spellcheck={false}
            required
            autofocus
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        </label>
        <button class="action" disabled={isAsking}>Log in</button>
        <p class="refused" role="alert">{props.problem}</p>
      </form>
    </main>
  );
}
