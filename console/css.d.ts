/** Stylesheets that modules import: the build joins them to one file. */
declare module "*.css";
