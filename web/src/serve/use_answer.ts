import { useCallback, useEffect, useState } from "preact/hooks";
import { ask } from "./api";

export interface Answer<T> {
  data: T | null; // the last that came
  problem: string; // why there is none, or no newer one
  reload: () => void;
}

// What the server answers to a path, asked again by `reload`; what there is stays while it is asked.
export function useAnswer<T>(path: string): Answer<T> {
  const [found, setFound] = useState<{ path: string; data: T } | null>(null);
  const [problem, setProblem] = useState("");
  const [count, setCount] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    ask<T>(path).then(
      (data) => {
        if (!isCurrent) return;
        setFound({ path, data });
        setProblem("");
      },
      (error: Error) => isCurrent && setProblem(error.message),
    );
    return () => { isCurrent = false; };
  }, [path, count]);
  const reload = useCallback(() => setCount((before) => before + 1), []);
  return { data: found?.path === path ? found.data : null, problem, reload };
}
