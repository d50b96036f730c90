// What the precompiled headers of all tests belong to.
int main() {}
