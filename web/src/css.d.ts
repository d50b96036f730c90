// esbuild takes style sheets; the type checker need only know that they can be imported.
declare module "*.css";
