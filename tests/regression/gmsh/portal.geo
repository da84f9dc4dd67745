// A portal with an arch, for Gmsh: two legs, a lintel, an arch of a quarter circle on each side, a loose mass above.
//   gmsh -1 -format msh41 portal.geo -o portal_41.msh       (and msh40; -bin; -order 2)
Point(10) = {0, 0, 0};
Point(20) = {0, 2, 0};
Point(30) = {4, 2, 0};
Point(40) = {4, 0, 0};
Point(50) = {2, 4, 0};
Point(60) = {2, 2, 0};
Point(70) = {2, 5, 0.5};
Line(1) = {10, 20};
Line(2) = {20, 30};
Line(3) = {40, 30};
Circle(4) = {20, 60, 50};
Circle(5) = {50, 60, 30};
Transfinite Curve {1, 3} = 5;
Transfinite Curve {2} = 9;
Transfinite Curve {4, 5} = 7;
Physical Point("feet") = {10, 40};
Physical Point("crown") = {50};
Physical Point("mass", 77) = {70};
Physical Curve("legs") = {1, 3};
Physical Curve("lintel") = {2};
Physical Curve("arch") = {4, 5};
Physical Curve("straight") = {1, 2, 3};
Physical Curve(900) = {2};
